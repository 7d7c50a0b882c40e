import { setTimeout as delay } from 'node:timers/promises'
import type { Component } from '#test/simulation/monitor.ts'
import type { Random } from '#test/simulation/random.ts'
import type { Receiver } from '#test/simulation/world/receivers.ts'
import type { World } from '#test/simulation/world/world.ts'

export type FaultContext = {
  world: World
  random: Random
  receivers: readonly Receiver[]
  /** The node that this fault concerns. */
  node: 0 | 1
}

/** A fault, from its beginning until everything is healed. */
export type Fault = {
  name: string
  weight: number
  /** The parts that may fail meanwhile; none if clients must not notice it. */
  components(context: FaultContext): readonly Component[]
  /** False if the fault is not possible now. */
  isPossible?(context: FaultContext): boolean
  run(context: FaultContext): Promise<void>
}

export const nodeOf = ({ node }: FaultContext): Component => (node === 0 ? 'node0' : 'node1')

export const pause = ({ random }: FaultContext, least_ms: number, most_ms: number) =>
  delay(random.between(least_ms, most_ms))

/** Two nodes are at most five seconds apart. */
export const chooseSkew = (random: Random): number => random.between(-2_500, 2_500)
