import { isWrite, type Operation } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import { handlerOf } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { restrictToCards } from '#operations/steps/require_card_access.ts'
import { recordOperatorRead, recordOperatorWrite } from './record_operator.ts'
import { type RunWrapper, type Work, wrapRun } from './work.ts'

const nothing = async () => undefined

/** The handler of the call, wrapped in everything that its operation and caller require. */
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

/** Counted in the transaction of the change, so failures do not count. */
function limitVelocity({ runtime, operation, caller, request }: Invocation): RunWrapper {
  // With several cells a sign-up was counted when its email was listed: a cell sees only its own.
  if (runtime.cells !== null && operation.name === 'create_account') return (run) => run
  return (run) => async (context, input) => {
    const { tx, settings, now } = context
    await requireVelocity(tx, { settings, now, operation: operation.name, caller, ip: request.ip })
    return run(context, input)
  }
}

function restrictOutput(invocation: Invocation): RunWrapper {
  return (run) => async (context, input) => restrictToCards(invocation, await run(context, input))
}
