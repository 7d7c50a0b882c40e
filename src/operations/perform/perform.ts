import { isWrite } from '#contract/operation.ts'
import type { Response } from '#operations/call.ts'
import type { Invocation } from '#operations/invocation.ts'
import { withAddressCount } from './count_address.ts'
import { makeWork } from './make_work.ts'
import { runRead } from './read.ts'
import { priceOf, runPaid } from './with_payment.ts'
import type { Work } from './work.ts'
import { runWrite } from './write.ts'

/** Performs a call that has passed every step; one with a price is paid for first. */
export function perform(invocation: Invocation): Promise<Response> {
  const work = makeWork(invocation)
  const price = priceOf(invocation)
  if (price === null) return runWork(invocation, work)
  return runPaid(invocation, work, { price, runWork })
}

function runWork(invocation: Invocation, work: Work): Promise<Response> {
  return isWrite(invocation.operation)
    ? withAddressCount(invocation, work, runWrite)
    : runRead(invocation, work)
}
