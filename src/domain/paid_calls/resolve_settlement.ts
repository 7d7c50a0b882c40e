import type { Settlement } from '#rails/x402/facilitator.ts'
import { hasPaid, type Receipt } from '#rails/x402/receipt.ts'
import { toFacilitatorInput, type PaymentRow } from './payment.ts'
import { type PaymentContext, stampOf } from './payment_context.ts'
import { bookRelayerFee, bookSettlement } from './payment_money.ts'
import { stepPayment, type TransferRow, findTransfers } from './payment_store.ts'

/** A permission that ran out this long ago can be in no block that we have not seen. */
const SAFE_MS = 10 * 60_000

/** What has become of a payment that was sent: the chain's receipts decide, not our memory. */
export async function resolveSettlement(
  payment_context: PaymentContext,
  row: PaymentRow,
): Promise<Settlement> {
  let isOpen = false
  for (const transfer of await findTransfers(payment_context.db, row.id, 'settlement')) {
    const receipt = await receiptOf(payment_context, transfer)
    if (receipt === null) isOpen = true
    else if (await confirm(payment_context, row, receipt))
      return { outcome: 'settled', txid: receipt.txid }
  }
  if (isOpen) return { outcome: 'pending' }
  const txid = (await payment_context.network?.settlementOf(row.payer, row.nonce)) ?? null
  const receipt = txid === null ? null : ((await payment_context.network?.receipt(txid)) ?? null)
  // Anyone may send what the payer has signed, and then ours reverts though the coins are here.
  if (receipt !== null && (await confirm(payment_context, row, receipt))) {
    return { outcome: 'settled', txid: receipt.txid }
  }
  return payment_context.relayer === null
    ? retrySettlement(payment_context, row)
    : failSettlement(payment_context, row, 'transaction_failed')
}

/** What was stored may never have left: whoever asks for it sends it. */
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

/** A remote facilitator's answer was lost, and the chain knows nothing of it: ask once more. */
async function retrySettlement(payment_context: PaymentContext, row: PaymentRow): Promise<Settlement> {
  const { payment, priced } = toFacilitatorInput(row)
  const nothing = async () => undefined
  const store = () => Promise.reject(new Error('a remote facilitator signs for itself'))
  const again = await payment_context.facilitator.settle(payment, priced, {
    store,
    asked: nothing,
    sent: nothing,
  })
  if (again.outcome === 'settled') {
    await payment_context.db.transaction((tx) =>
      bookSettlement(tx, row, again.txid, stampOf(payment_context)),
    )
    return again
  }
  const isOver = row.valid_before.getTime() + SAFE_MS < payment_context.clock.wall().getTime()
  if (again.outcome === 'pending' || !isOver) return { outcome: 'pending' }
  return failSettlement(payment_context, row, again.reason)
}

/** Books the network's fee where the transfer was ours, and the coins where they have come. */
async function confirm(
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
