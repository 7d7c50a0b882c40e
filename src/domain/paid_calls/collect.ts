import { Problem } from '#contract/problem.ts'
import type { Settlement } from '#rails/x402/facilitator.ts'
import { type Bill, type PaymentRow, paymentFailed, refusalOf } from './payment.ts'
import { LEASE_MS, type PaymentContext, stampOf } from './payment_context.ts'
import { bookSettlement } from './payment_money.ts'
import {
  findPayment,
  releasePayment,
  reservePayment,
  signedStore,
  stepPayment,
} from './payment_store.ts'
import { resolveSettlement } from './resolve_settlement.ts'

/** A doubtful payment stays open until its permission expires; clients sign for five minutes. */
const VALID_MS_MAX = 24 * 60 * 60_000

/**
 * Reserves and settles the payment of a call. The returned payment is settled and not yet spent. A
 * retry of the same request resumes where the previous one stopped.
 */
export async function collect(payment_context: PaymentContext, bill: Bill): Promise<PaymentRow> {
  const { db, clock, newId } = payment_context
  const known = await findPayment(db, bill.payment)
  const isUnsent = known === undefined || known.state === 'failed' || known.state === 'reserved'
  if (isUnsent) await requirePayable(payment_context, bill)

  const now = clock.now()
  const leased_until = new Date(now.getTime() + LEASE_MS)
  const row = await reservePayment(db, bill, { id: newId('pay', now), now, leased_until })
  if (row === undefined) throw refusalOf(await findPayment(db, bill.payment), bill)
  payment_context.fail('payment_reserved')
  if (row.state === 'settled') return row
  try {
    // It failed after the look-up, so this payment has not been verified.
    if (row.state === 'reserved' && !isUnsent) await requirePayable(payment_context, bill)
    const settlement = await settlePayment(payment_context, bill, row)
    if (settlement.outcome === 'settled') return { ...row, state: 'settled', txid: settlement.txid }
    if (settlement.outcome === 'failed') throw settlementRefused(settlement.reason)
    throw retryLater(
      'The payment was sent but is not confirmed. Retry the request with the same payment.',
    )
  } catch (cause) {
    await releasePayment(db, row, clock.now())
    throw cause
  }
}

const retryLater = (sentence: string, cause?: unknown) =>
  new Problem('service_unavailable', sentence, { retry_after_s: 5, cause })

async function requirePayable(
  { screener, facilitator, clock }: PaymentContext,
  bill: Bill,
): Promise<void> {
  const { payment, priced } = bill
  if (payment.valid_before.getTime() > clock.wall().getTime() + VALID_MS_MAX) {
    throw paymentFailed('The payment is valid for more than a day. Sign one that expires earlier.')
  }
  const { payer: address, amount_micros } = payment
  const sender = { chain: 'base', address, direction: 'in', amount_micros } as const
  const { decision } = await screener.screen(sender)
  if (decision !== 'allow') {
    throw paymentFailed('Payments from this address are blocked.')
  }
  const objection = await facilitator.verify(payment, priced).catch((cause: unknown) => {
    throw retryLater('Payments cannot be verified right now. Try again in a moment.', cause)
  })
  if (objection !== null) throw settlementRefused(objection)
}

const settlementRefused = (reason: string) =>
  paymentFailed(`The payment cannot be settled: ${reason}. Nothing was charged.`)

async function settlePayment(
  payment_context: PaymentContext,
  bill: Bill,
  row: PaymentRow,
): Promise<Settlement> {
  const { db, clock, facilitator, fail } = payment_context
  if (row.state === 'settling') return resolveSettlement(payment_context, row)
  const store = signedStore(db, { row, purpose: 'settlement', now: clock.now() })
  const settlement = await facilitator.settle(bill.payment, bill.priced, {
    storeSigned: async (relayer, mined, sign) => {
      const signed = await store(relayer, mined, sign)
      fail('payment_signed')
      return signed
    },
    beforeRequest: async () => {
      const step = { from: ['reserved'], to: 'settling' } as const
      if (await stepPayment(db, row, step, clock.now())) return
      throw retryLater(
        'The payment was not sent because the call took too long. Retry with the same payment.',
      )
    },
    onSent: () => fail('payment_sent'),
  })
  const outcome = await concludeSettlement(payment_context, row, settlement)
  if (outcome.outcome === 'settled') fail('payment_settled')
  return outcome
}

/**
 * Our own transfer is judged by its receipt on the chain, not by the facilitator's response. After
 * a doubtful one of an external facilitator, a task looks again until the permission has expired.
 */
async function concludeSettlement(
  payment_context: PaymentContext,
  row: PaymentRow,
  settlement: Settlement,
): Promise<Settlement> {
  const { db, clock, relayer } = payment_context
  if (settlement.outcome === 'failed') {
    const step = { from: ['reserved'], to: 'failed', reason: settlement.reason } as const
    if (await stepPayment(db, row, step, clock.now())) return settlement
  }
  if (relayer !== null) return resolveSettlement(payment_context, row)
  if (settlement.outcome === 'settled') {
    await db.transaction((tx) => bookSettlement(tx, row, settlement.txid, stampOf(payment_context)))
  }
  if (settlement.outcome === 'failed') {
    const step = { from: ['settling'], to: 'failed', reason: settlement.reason } as const
    await stepPayment(db, row, step, clock.now())
  }
  return settlement
}
