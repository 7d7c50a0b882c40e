import { isWrite, type Operation, pathNames } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import { collect } from '#domain/paid_calls/collect.ts'
import type { Bill, PaymentRow } from '#domain/paid_calls/payment.ts'
import { stampOf } from '#domain/paid_calls/payment_context.ts'
import { owe, spend } from '#domain/paid_calls/payment_money.ts'
import { findSpent, releasePayment } from '#domain/paid_calls/payment_store.ts'
import { assert } from '#kernel/assert.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import type { Response } from '#operations/call.ts'
import type { Invocation } from '#operations/invocation.ts'
import { problemOf } from '#operations/problem_response.ts'
import { receiptOf } from '#rails/x402/facilitator.ts'
import { readPayment } from '#rails/x402/payment.ts'
import { headerOf, NETWORK, type PricedCall, paymentRequired } from '#rails/x402/requirement.ts'
import { requireAddress } from './count_address.ts'
import { rehearse } from './rehearse.ts'
import { type Work, wrapRun } from './work.ts'

/** Null if the call is free. A refused input is not charged. */
export function priceOf({ runtime, operation, call, refusal }: Invocation): Micros | null {
  if (call.is_free === true || refusal !== null) return null
  return runtime.settings.x402.prices.get(operation.name) ?? null
}

type PaidRun = {
  price: Micros
  runWork(invocation: Invocation, work: Work): Promise<Response>
}

/**
 * Charges a call once, before its work. Replays and calls that cannot succeed are not charged, and
 * the money is returned if the work is refused after all.
 */
export async function runPaid(
  invocation: Invocation,
  work: Work,
  { price, runWork }: PaidRun,
): Promise<Response> {
  const rehearsal = await rehearse(invocation, work)
  if (rehearsal === 'stored') {
    await addEarlierReceipt(invocation)
    return runWork(invocation, work)
  }
  if (rehearsal !== 'ready') return rehearsal
  await requireAddress(invocation)
  const payment = await collectPayment(invocation, price)
  addReceipt(invocation, payment)
  try {
    return await runWork(invocation, withPayment(invocation, work, payment))
  } catch (cause) {
    await returnPayment(invocation, payment, problemOf(cause))
    throw cause
  }
}

/** Spends the payment in the transaction of the work, and owes it again if the work is refused. */
function withPayment(invocation: Invocation, work: Work, payment: PaymentRow): Work {
  const { runtime, operation, caller } = invocation
  return {
    handler: wrapRun(work.handler, (run) => async (context, input) => {
      const output = await run(context, input)
      if (isWrite(operation)) await spend(context.tx, payment, stampOf(runtime))
      else {
        const db = runtime.databaseOf(caller)
        await db.transaction((tx) => spend(tx, payment, stampOf(runtime)))
      }
      return output
    }),
    onRefusal: (tx, { code }) => owe(tx, payment, code, runtime.clock.now()),
    onReplay: (tx) => owe(tx, payment, 'answered_before', runtime.clock.now()),
  }
}

function addReceipt({ headers }: Invocation, payment: PaymentRow): void {
  headers['PAYMENT-RESPONSE'] = headerOf(receiptOf(NETWORK, payment))
}

/** A replay carries the receipt of the call that was paid for. */
async function addEarlierReceipt(invocation: Invocation): Promise<void> {
  const payment = await findSpent(invocation.runtime.db, fingerprintOf(invocation))
  if (payment !== undefined) addReceipt(invocation, payment)
}

/** A refusal is final. After a failure of ours the same payment can be used again. */
async function returnPayment(
  { runtime: { db, clock } }: Invocation,
  payment: PaymentRow,
  { status, code }: Problem,
): Promise<void> {
  if (status < 500) await owe(db, payment, code, clock.now())
  else await releasePayment(db, payment, clock.now())
}

/** Settles the payment sent with the call; without one, the response says how to pay. */
async function collectPayment(invocation: Invocation, price: Micros): Promise<PaymentRow> {
  const { runtime, operation, request, caller } = invocation
  const { payment_context } = runtime
  assert(payment_context !== null, 'a priced operation has a payment context')
  const priced = pricedOf(invocation, price)
  try {
    const header = request.header('payment-signature')
    if (header === null) throw paymentDue(operation, price)
    const payment = readPayment(header, priced)
    if (typeof payment === 'string') {
      throw new Problem('payment_invalid', `The payment does not match: ${payment}.`)
    }
    const bill: Bill = {
      priced,
      payment,
      operation: operation.name,
      account_id: caller?.account_id ?? null,
      request_id: request.id,
      fingerprint: fingerprintOf(invocation),
    }
    return await collect(payment_context, bill)
  } catch (cause) {
    if (cause instanceof Problem && cause.status === 402) {
      invocation.headers['PAYMENT-REQUIRED'] = headerOf(paymentRequired(priced, cause.message))
    }
    throw cause
  }
}

function paymentDue({ name }: Operation, price: Micros): Problem {
  const sentence = `${name} costs ${decimalFromMicros(price)} USD. Pay with PAYMENT-SIGNATURE.`
  return new Problem('payment_required', sentence)
}

/** The REST URL with its IDs names the call, whatever the door. */
function pricedOf({ runtime, operation, input }: Invocation, amount_micros: Micros): PricedCall {
  const { public_url, x402 } = runtime.settings
  assert(x402.pay_to !== null, 'priced operations have a receiving address')
  let path = operation.path
  for (const name of pathNames(path)) {
    path = path.replace(`{${name}}`, encodeURIComponent(String(input[name])))
  }
  return {
    amount_micros,
    pay_to: x402.pay_to,
    url: `${public_url}/v1${path}`,
    description: operation.summary,
  }
}

/** Keyed, because it covers passwords too. */
function fingerprintOf({ runtime, operation, caller, request, input }: Invocation): string {
  const canonical = canonicalJson([
    operation.name,
    caller?.account_id ?? null,
    request.idempotency_key,
    request.upload?.sha256 ?? null,
    input,
  ])
  return runtime.keys.fingerprint('x402', canonical)
}
