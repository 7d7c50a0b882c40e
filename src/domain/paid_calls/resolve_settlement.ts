import type { Settlement } from '#rails/x402/facilitator.ts'
import { hasPaid, type Receipt } from '#rails/x402/receipt.ts'
import { type PaymentRow, toFacilitatorInput } from './payment.ts'
import { type PaymentContext, stampOf } from './payment_context.ts'
import { bookRelayerFee, bookSettlement } from './payment_money.ts'
import { findTransfers, stepPayment, type TransferRow } from './payment_store.ts'

/** A node may be this far behind. A permission that expired before that and is unused stays so. */
const EXPIRY_MARGIN_MS = 10 * 60_000

/** The outcome of a payment that was sent, from the receipts on the chain. */
export async function resolveSettlement(
  payment_context: PaymentContext,
  row: PaymentRow,
): Promise<Settlement> {
  let isOpen = false
  for (const transfer of await findTransfers(payment_context.db, row.id, 'settlement')) {
    const receipt = await receiptOf(payment_context, transfer)
    if (receipt === null) isOpen = true
    else if (await bookReceipt(payment_context, row, receipt))
      return { outcome: 'settled', txid: receipt.txid }
  }
  if (isOpen) return { outcome: 'pending' }
  const { network } = payment_context
  const txid = (await network?.settlementOf(row.payer, row.nonce, row.created_at)) ?? null
  if (txid !== null) {
    const receipt = (await network?.receipt(txid)) ?? null
    if (receipt === null) return { outcome: 'pending' }
    // Anyone can send the payer's permission; ours reverts then, although the coins have arrived.
    if (await bookReceipt(payment_context, row, receipt)) return { outcome: 'settled', txid }
  }
  return payment_context.relayer === null
    ? retrySettlement(payment_context, row)
    : failSettlement(payment_context, row, 'transaction_failed')
}

/** A crash may have kept a stored transfer from being sent, so it is sent again. */
async function receiptOf(
  { network }: PaymentContext,
  { txid, raw }: TransferRow,
): Promise<Receipt | null> {
  if (network === null) return null
  const known = await network.receipt(txid)
  if (known !== null) return known
  await network.broadcast(raw).catch(() => undefined)
  return network.receipt(txid)
}

async function failSettlement(
  payment_context: PaymentContext,
  row: PaymentRow,
  reason: string,
): Promise<Settlement> {
  const step = { from: ['settling'], to: 'failed', reason } as const
  await stepPayment(payment_context.db, row, step, payment_context.clock.now())
  return { outcome: 'failed', reason }
}

/** A remote facilitator's response was lost and the chain has no transfer: settle again. */
async function retrySettlement(
  payment_context: PaymentContext,
  row: PaymentRow,
): Promise<Settlement> {
  const { payment, priced } = toFacilitatorInput(row)
  const doNothing = async () => undefined
  const storeSigned = () => Promise.reject(new Error('a remote facilitator signs for itself'))
  const again = await payment_context.facilitator.settle(payment, priced, {
    storeSigned,
    beforeRequest: doNothing,
    onSent: doNothing,
  })
  if (again.outcome === 'settled') {
    await payment_context.db.transaction((tx) =>
      bookSettlement(tx, row, again.txid, stampOf(payment_context)),
    )
    return again
  }
  const isExpired =
    row.valid_before.getTime() + EXPIRY_MARGIN_MS < payment_context.clock.wall().getTime()
  if (again.outcome === 'pending' || !isExpired) return { outcome: 'pending' }
  return failSettlement(payment_context, row, again.reason)
}

/** Books the network fee if the transfer is ours, and the payment if the coins have arrived. */
async function bookReceipt(
  payment_context: PaymentContext,
  row: PaymentRow,
  receipt: Receipt,
): Promise<boolean> {
  const isPaid = hasPaid(receipt, row)
  const { native_usd } = payment_context.settings.x402
  await payment_context.db.transaction(async (tx) => {
    await bookRelayerFee(tx, row, { ...receipt, native_usd }, stampOf(payment_context))
    if (isPaid) await bookSettlement(tx, row, receipt.txid, stampOf(payment_context))
  })
  return isPaid
}
