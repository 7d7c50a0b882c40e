import type { Micros } from '#kernel/money.ts'

/** The result of a mined transaction. */
export type Receipt = {
  txid: string
  ok: boolean
  /** Includes a rollup's L1 fee. */
  fee_wei: bigint
  /** Transfers of the payment asset only. */
  transfers: readonly { from: string; to: string; value: bigint }[]
}

/** Read access to the payment network, and broadcasting; needs no key. */
export type PaymentNetwork = {
  /**
   * The transaction, by any sender, that used or canceled an authorization, at most a day before
   * this date. Null only if it is unused: throws if the node does not show the transaction.
   */
  settlementOf(payer: string, nonce: string, since: Date): Promise<string | null>
  receipt(txid: string): Promise<Receipt | null>
  broadcast(raw: string): Promise<void>
}

type ExpectedTransfer = { payer: string; amount_micros: Micros; pay_to: string }

/** True if the receipt has this exact transfer; a successful status alone proves nothing. */
export function hasPaid(
  receipt: Receipt | null,
  { payer, amount_micros, pay_to }: ExpectedTransfer,
): boolean {
  if (receipt === null || !receipt.ok) return false
  return receipt.transfers.some(
    ({ from, to, value }) =>
      sameAddress(from, payer) && sameAddress(to, pay_to) && value === amount_micros,
  )
}

export const sameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
