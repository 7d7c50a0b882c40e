import type { SettleResponse } from '@x402/core/types'
import type { Payment } from './payment.ts'
import type { PricedCall } from './requirement.ts'

/**
 * settled: the coins have moved. failed: this attempt did not and will not move them. doubtful: an
 * external service says that it failed, but may have sent it. pending: it was sent but is not
 * confirmed.
 */
export type Settlement =
  | { outcome: 'settled'; txid: string }
  | { outcome: 'failed' | 'doubtful'; reason: string }
  | { outcome: 'pending' }

/** Verifies and settles payments: our own relayer or an external service. */
export type Facilitator = {
  /** Null if the payment can be settled now, otherwise the protocol's error reason. */
  verify(payment: Payment, priced: PricedCall): Promise<string | null>
  settle(payment: Payment, priced: PricedCall, hooks: SettlementHooks): Promise<Settlement>
}

/** Store the state of a settlement before anything is sent, so a crash cannot lose it. */
export type SettlementHooks = {
  /** For our own relayer. */
  storeSigned: StoreSigned
  /** Before a request to an external facilitator. */
  beforeRequest(): Promise<void>
  onSent(): void
}

export type SignedTransaction = { nonce: bigint; txid: string; raw: string }

/**
 * Allocates the relayer's next nonce, at least the chain's, and stores the transaction signed with
 * it, in one database transaction.
 */
export type StoreSigned = (
  relayer: string,
  mined: bigint,
  sign: (nonce: bigint) => Promise<SignedTransaction>,
) => Promise<SignedTransaction>

/** The receipt of a payment, for the response header. */
export function receiptOf(
  network: string,
  { payer, txid }: { payer: string; txid: string | null },
): SettleResponse {
  return {
    success: true,
    transaction: txid ?? '',
    network: network as `${string}:${string}`,
    payer,
  }
}
