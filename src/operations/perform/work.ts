import { isWrite, type Operation } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import type { Problem } from '#contract/problem.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import { type AnyHandler, handlerOf, type Run } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { restrictToCards } from '#operations/steps/require_card_access.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { recordOperatorRead, recordOperatorWrite } from './record_operator.ts'

/** A handler with its wrappers. */
export type Work = {
  handler: AnyHandler
  /** Runs in the transaction that stores a refusal under the Idempotency-Key. */
  onRefusal(tx: Tx, problem: Problem): Promise<void>
  /** Runs in the transaction of a replay. */
  onReplay(tx: Tx): Promise<void>
}

const nothing = async () => undefined

export function makeWork(invocation: Invocation): Work {
  const { operation, caller } = invocation
  let handler = handlerOf(operation.name)
  if (isWrite(operation)) handler = wrapRun(handler, limitVelocity(invocation))
  else if (caller !== null && caller.card_ids !== null) {
    handler = wrapRun(handler, restrictOutput(invocation))
  }
  if (isOperators(operation)) {
    const record = isWrite(operation) ? recordOperatorWrite : recordOperatorRead
    handler = wrapRun(handler, record(invocation))
  }
  return { handler, onRefusal: nothing, onReplay: nothing }
}

const isOperators = (operation: Operation): operation is OperatorOperation =>
  operation.access !== 'anyone' && 'operator' in operation.access

/** Something around the run of a handler, whether or not it has a preparation. */
export type RunWrapper = (run: Run) => Run

export function wrapRun(handler: AnyHandler, wrap: RunWrapper): AnyHandler {
  if (typeof handler === 'function') return wrap(handler)
  const { prepare } = handler
  return { ...handler, prepare: async (context, input) => wrap(await prepare(context, input)) }
}

/** Counted in the transaction of the change, so failures do not count. */
function limitVelocity({ operation, caller, request }: Invocation): RunWrapper {
  return (run) => async (context, input) => {
    const { tx, settings, now } = context
    await requireVelocity(tx, { settings, now, operation: operation.name, caller, ip: request.ip })
    return run(context, input)
  }
}

function restrictOutput(invocation: Invocation): RunWrapper {
  return (run) => async (context, input) => restrictToCards(invocation, await run(context, input))
}
