import { type OperationShape, pathNames } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import { collect } from '#domain/paid_calls/collect.ts'
import type { Bill, PaymentRow } from '#domain/paid_calls/payment.ts'
import { owe } from '#domain/paid_calls/payment_money.ts'
import { findSpent, releasePayment } from '#domain/paid_calls/payment_store.ts'
import { assert } from '#kernel/assert.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import { receiptOf } from '#rails/x402/facilitator.ts'
import { readPayment } from '#rails/x402/payment.ts'
import { headerOf, NETWORK, type PricedCall, paymentRequired } from '#rails/x402/requirement.ts'
import type { Answer } from './call.ts'
import type { Running } from './contexts.ts'
import { idempotencyOf, perform } from './perform.ts'
import { problemOf } from './refusal.ts'
import { rehearse } from './rehearse.ts'

/**
 * A call that has a price. Nothing is charged that was answered before or cannot succeed; what is
 * charged is charged once, before the work, and given back where the work is refused after all.
 */
export async function performPaid(running: Running, price: Micros): Promise<Answer> {
  const rehearsal = await rehearse(running, idempotencyOf(running))
  if (rehearsal === 'stored') return replayed(running)
  if (rehearsal !== 'ready') return rehearsal
  const payment = await paid(running, price)
  running.headers['PAYMENT-RESPONSE'] = headerOf(receiptOf(NETWORK, payment))
  try {
    return await perform(running, payment)
  } catch (cause) {
    await leave(running, payment, problemOf(cause))
    throw cause
  }
}

async function replayed(running: Running): Promise<Answer> {
  const bought = await findSpent(running.runtime.db, fingerprintOf(running))
  if (bought !== undefined) {
    running.headers['PAYMENT-RESPONSE'] = headerOf(receiptOf(NETWORK, bought))
  }
  return perform(running)
}

/** A refusal is for good; what broke may work when it is asked again with the same payment. */
async function leave(
  { runtime: { db, clock } }: Running,
  payment: PaymentRow,
  { status, code }: Problem,
): Promise<void> {
  if (status < 500) await owe(db, payment, code, clock.now())
  else await releasePayment(db, payment, clock.now())
}

/** The payment that came with the call, settled; or how to make one. */
async function paid(running: Running, price: Micros): Promise<PaymentRow> {
  const { runtime, operation, request, caller } = running
  const { payment_context } = runtime
  assert(payment_context !== null, 'what has a price can be paid for')
  const priced = pricedOf(running, price)
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
      fingerprint: fingerprintOf(running),
    }
    return await collect(payment_context, bill)
  } catch (cause) {
    if (cause instanceof Problem && cause.status === 402) {
      running.headers['PAYMENT-REQUIRED'] = headerOf(paymentRequired(priced, cause.message))
    }
    throw cause
  }
}

function paymentDue({ name }: OperationShape, price: Micros): Problem {
  const sentence = `${name} costs ${decimalFromMicros(price)} USD. Pay with PAYMENT-SIGNATURE.`
  return new Problem('payment_required', sentence)
}

/** Named by its place in the REST API whatever the door, its ids included. */
function pricedOf({ runtime, operation, input }: Running, amount_micros: Micros): PricedCall {
  const { public_url, x402 } = runtime.settings
  assert(x402.pay_to !== null, 'somebody is paid')
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

/** Keyed, like every fingerprint of an input: it covers passwords too. */
function fingerprintOf({ runtime, operation, caller, request, input }: Running): string {
  const asked = canonicalJson([
    operation.name,
    caller?.account_id ?? null,
    request.idempotency_key,
    request.upload?.sha256 ?? null,
    input,
  ])
  return runtime.keys.fingerprint('x402', asked)
}
