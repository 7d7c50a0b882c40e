import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from '#sandbox/card_network.ts'
import {
  type MixedStorm,
  openOwner,
  type StormResult,
  sendCardMessage,
  sendOwnerCall,
} from './mixed_storm.ts'
import { pick, runTogether } from './mixed_storm_actors.ts'
import { seeded } from './storm.ts'

/** A fixed number of messages in flight over TCP while owners write at a steady rate. */
export type MixedFlood = Pick<MixedStorm, 'host' | 'nodes'> & {
  seed: number
  in_flight: number
  owner_calls_per_second: number
  seconds: number
}

const ACCOUNTS = 20

export async function runMixedFlood(flood: MixedFlood): Promise<StormResult> {
  const { host, nodes, seed, in_flight, owner_calls_per_second, seconds } = flood
  const owners = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, at) => openOwner(host, 1 + (at % 3))),
  )
  const result: StormResult = {
    card_messages: 0,
    owner_calls: 0,
    response_codes: new Map(),
    statuses: new Map(),
    owners,
  }
  const end_ms = performance.now() + seconds * 1_000
  const asker = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 1_000 + at)
    const node = nodes[at % nodes.length]
    assert(node !== undefined)
    const line = await openConnection(node.card_host_port)
    while (!isStopped() && performance.now() < end_ms) {
      await sendCardMessage([line], pick(owners, random), { random, result })
    }
    line.end()
  }
  const writer = async (isStopped: () => boolean) => {
    const random = seeded(seed)
    const calls: Promise<void>[] = []
    while (!isStopped() && performance.now() < end_ms) {
      calls.push(sendOwnerCall({ host, nodes }, pick(owners, random), { random, result }))
      await delay(1_000 / owner_calls_per_second)
    }
    await Promise.all(calls)
  }
  await runTogether([writer, ...Array.from({ length: in_flight }, (_, at) => asker(at))])
  return result
}
