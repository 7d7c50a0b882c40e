import type { Problem } from '#contract/problem.ts'
import type { AnyContext, AnyHandler, Run } from '#operations/handlers.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** A handler with its wrappers. */
export type Work = {
  handler: AnyHandler
  /** Runs in the transaction that stores a refusal under the Idempotency-Key. */
  onRefusal(tx: Tx, problem: Problem): Promise<void>
  /** Runs in the transaction of a replay. */
  onReplay(tx: Tx): Promise<void>
}

/** A change inside a transaction; it returns the output of the operation. */
export type Effect = (context: AnyContext) => Promise<object>

/** Wraps the run of a handler, whether or not the handler has a preparation. */
export type RunWrapper = (run: Run) => Run

export function wrapRun(handler: AnyHandler, wrap: RunWrapper): AnyHandler {
  if (typeof handler === 'function') return wrap(handler)
  const { prepare } = handler
  return { ...handler, prepare: async (context, input) => wrap(await prepare(context, input)) }
}
