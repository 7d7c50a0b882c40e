import type { PaymentPayload } from '@x402/core/types'
import { Problem } from '#contract/problem.ts'
import type { Resource } from '#domain/context/context.ts'
import type { Micros } from '#kernel/money.ts'
import type { Payment } from '#rails/x402/payment.ts'
import type { PricedCall } from '#rails/x402/requirement.ts'

/** A stored payment: the signed permission, the call it pays for, and its state. */
export type PaymentRow = {
  id: string
  network: string
  asset: string
  payer: string
  nonce: string
  amount_micros: Micros
  pay_to: string
  valid_before: Date
  account_id: string | null
  operation: string
  request_id: string
  fingerprint: string
  state: PaymentState
  state_reason: string | null
  payload: PaymentPayload
  txid: string | null
  leased_until: Date
  created_at: Date
  updated_at: Date
  settled_at: Date | null
}

export type PaymentState =
  | 'reserved'
  | 'settling'
  | 'settled'
  | 'spent'
  | 'failed'
  | 'owed'
  | 'refunding'
  | 'refunded'
  | 'credited'

/** A priced call and the payment that was sent with it. */
export type Bill = {
  priced: PricedCall
  payment: Payment
  operation: string
  account_id: string | null
  request_id: string
  /** Identifies the request, its Idempotency-Key included. */
  fingerprint: string
}

export const paymentReference = (id: string): Resource => ({ type: 'payment', id })

/** Rebuilds the facilitator's input from a stored payment. */
export const toFacilitatorInput = (row: PaymentRow): { payment: Payment; priced: PricedCall } => ({
  payment: row,
  priced: {
    amount_micros: row.amount_micros,
    pay_to: row.pay_to,
    url: row.payload.resource?.url ?? '',
    description: '',
  },
})

export const paymentFailed = (sentence: string) => new Problem('payment_failed', sentence)

/** The reason why a stored payment can't pay for this call. */
export function refusalOf(known: PaymentRow | undefined, bill: Bill): Problem {
  const isSame =
    known?.fingerprint === bill.fingerprint && known.amount_micros === bill.payment.amount_micros
  if (!isSame) {
    return paymentFailed('This payment was signed for a different call. Sign a new one.')
  }
  if (known.state === 'reserved' || known.state === 'settling' || known.state === 'settled') {
    return new Problem(
      'idempotency_in_progress',
      'A call with this payment is still in progress. Retry in a moment.',
      { retry_after_s: 1 },
    )
  }
  return paymentFailed('This payment was already used. Sign a new one.')
}
