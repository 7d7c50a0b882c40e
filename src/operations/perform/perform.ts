import { isWrite, type Operation } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import { requireVelocity } from '#domain/risk/velocity.ts'
import type { Response } from '#operations/call.ts'
import { handlerOf } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { restrictToCards } from '#operations/steps/require_card_access.ts'
import { withAddressCount } from './count_address.ts'
import { runRead } from './read.ts'
import { recordOperatorRead, recordOperatorWrite } from './record_operator.ts'
import { priceOf, runPaid } from './with_payment.ts'
import { type RunWrapper, type Work, wrapRun } from './work.ts'
import { runWrite } from './write.ts'

/** Performs a call that has passed every step; one with a price is paid for first. */
export function perform(invocation: Invocation): Promise<Response> {
  const work = makeWork(invocation)
  const price = priceOf(invocation)
  if (price === null) return runWork(invocation, work)
  return runPaid(invocation, work, { price, runWork })
}

function runWork(invocation: Invocation, work: Work): Promise<Response> {
  if (!isWrite(invocation.operation)) return runRead(invocation, work)
  return invocation.runtime.cells === null
    ? runWrite(invocation, work)
    : withAddressCount(invocation, work, runWrite)
}

const nothing = async () => undefined

/** The handler of the call, wrapped in everything that its operation and caller require. */
function makeWork(invocation: Invocation): Work {
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
