import type { FastifyInstance } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import type { Caller, Seams } from './context.ts'

/**
 * What a world around the service may touch: the same bearers, the clock, and calls that go
 * through the same pipeline as everybody's. Anything else it does over the service's own protocols.
 */
export type World = Pick<Seams, 'settings' | 'clock' | 'random' | 'log'> & {
  callerOf(authorization: string | undefined): Promise<Caller>
  call(operation: OperationName, input: object, bearer?: string): Promise<CallAnswer>
  /** Moves every clock of the service, on every node, and lets tasks see it at once. */
  advanceClock(seconds: number): Promise<Date>
}

export type CallAnswer = { status: number; body: Record<string, unknown> }

/** Routes that are mounted beside the service's own, such as the sandbox's controls. */
export type Surface = (app: FastifyInstance, world: World) => void
