import type { SettleResponse } from '@x402/core/types'
import type { Payment } from './payment.ts'
import type { Priced } from './requirement.ts'

/**
 * settled: the coins have moved. failed: they have not, and will not by this attempt. pending: it
 * was sent and is not confirmed; only the chain knows.
 */
export type Settlement =
  | { outcome: 'settled'; txid: string }
  | { outcome: 'failed'; reason: string }
  | { outcome: 'pending' }

/** Who checks payments and moves the coins: our own relayer, or somebody else by configuration. */
export type Facilitator = {
  /** Null where it can be settled now; else the protocol's word for why not. */
  verify(payment: Payment, priced: Priced): Promise<string | null>
  settle(payment: Payment, priced: Priced, sending: Sending): Promise<Settlement>
}

/** What must be written down before anything leaves, so that no crash can separate the two. */
export type Sending = {
  /** What was signed; our own relayer's way. */
  store: StoreSigned
  /** That somebody else is about to be asked. */
  asked(): Promise<void>
  sent(): void
}

export type Signed = { nonce: bigint; txid: string; raw: string }

/**
 * Takes the relayer's next place in the order, no lower than the chain's, has it signed for that
 * place, and stores the bytes: all or nothing.
 */
export type StoreSigned = (
  relayer: string,
  mined: bigint,
  sign: (nonce: bigint) => Promise<Signed>,
) => Promise<Signed>

/** The receipt of a payment, for the header that the answer carries. */
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
