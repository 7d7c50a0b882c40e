import type { Micros } from '#kernel/money.ts'

/** What a mined transaction did, in the words we need of it. */
export type Receipt = {
  txid: string
  ok: boolean
  /** What the network took, the chain below a rollup included. */
  fee_wei: bigint
  /** Of the asset that is paid with; other contracts' are not among them. */
  transfers: readonly { from: string; to: string; value: bigint }[]
}

/** What is asked of the network that payments are made on; it takes no key. */
export type PaymentNetwork = {
  /** Whoever sent it: the transaction that used a permission up lately, or null. */
  settlementOf(payer: string, nonce: string): Promise<string | null>
  receipt(txid: string): Promise<Receipt | null>
  broadcast(raw: string): Promise<void>
}

type Paid = { payer: string; amount_micros: Micros; pay_to: string }

/** Whether these very coins went from the payer to us. That it did not revert proves nothing. */
export function hasPaid(receipt: Receipt | null, { payer, amount_micros, pay_to }: Paid): boolean {
  if (receipt === null || !receipt.ok) return false
  return receipt.transfers.some(
    ({ from, to, value }) =>
      sameAddress(from, payer) && sameAddress(to, pay_to) && value === amount_micros,
  )
}

export const sameAddress = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
