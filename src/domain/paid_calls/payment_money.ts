import { move } from '#domain/ledger/move.ts'
import type { MovementName } from '#domain/ledger/movements.ts'
import type { Stamp } from '#domain/ledger/post.ts'
import { fees, gas, type Purse, payers, prepaid, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type PaymentRow, paymentReference } from './payment.ts'
import { type MinedTransfer, markMined, releasePayment, stepPayment } from './payment_store.ts'

/** The account_id of movements that concern no account. */
const NO_ACCOUNT = 'programme'

/** The coins have arrived. From here on we owe the payer a call or a refund. */
export async function bookSettlement(
  tx: Tx,
  row: PaymentRow,
  txid: string,
  stamp: Stamp,
): Promise<boolean> {
  const step = { from: ['reserved', 'settling'], to: 'settled', txid } as const
  if (!(await stepPayment(tx, row, step, stamp.now))) return false
  await postPayment(tx, row, { movement: 'call_paid', from: payers, to: prepaid }, stamp)
  return true
}

/** Runs in the transaction of the call, so the call and its payment commit together. */
export async function spend(tx: Tx, row: PaymentRow, stamp: Stamp): Promise<void> {
  const isSpent = await stepPayment(tx, row, { from: ['settled'], to: 'spent' }, stamp.now)
  if (!isSpent) throw new Error('the payment changed its state while its call was running')
  await postPayment(tx, row, { movement: 'call_earned', from: prepaid, to: fees }, stamp)
}

/** The call was refused or did not need the payment; a task returns the money. */
export async function owe(tx: Tx, row: PaymentRow, reason: string, now: Date): Promise<void> {
  await stepPayment(tx, row, { from: ['settled'], to: 'owed', reason }, now)
  await releasePayment(tx, row, now)
}

export async function creditAccount(tx: Tx, row: PaymentRow, stamp: Stamp): Promise<boolean> {
  assert(row.account_id !== null, 'only an account can be credited')
  if (!(await stepPayment(tx, row, { from: ['owed'], to: 'credited' }, stamp.now))) return false
  await postPayment(tx, row, { movement: 'call_credited', from: prepaid, to: treasury }, stamp)
  return true
}

export async function markRefunded(
  tx: Tx,
  row: PaymentRow,
  txid: string,
  stamp: Stamp,
): Promise<void> {
  const step = { from: ['refunding'], to: 'refunded', reason: `refunded in ${txid}` } as const
  if (!(await stepPayment(tx, row, step, stamp.now))) return
  await postPayment(tx, row, { movement: 'call_refunded', from: prepaid, to: payers }, stamp)
}

type RelayerFee = { txid: string; ok: boolean; fee_wei: bigint; native_usd: number }

/** Books the network fee of a transfer of ours, mined or reverted, once. */
export async function bookRelayerFee(
  tx: Tx,
  row: PaymentRow,
  fee: RelayerFee,
  stamp: Stamp,
): Promise<void> {
  const mined: MinedTransfer = { ...fee, fee_micros: feeMicros(fee.fee_wei, fee.native_usd) }
  const isFirst = await markMined(tx, fee.txid, mined, stamp.now)
  if (!isFirst || mined.fee_micros === 0n) return
  const payment_move = { movement: 'relayer_fee_paid', from: fees, to: gas } as const
  // The fee is the operator's cost, not the account's.
  await postPayment(
    tx,
    { ...row, account_id: null, amount_micros: mined.fee_micros },
    payment_move,
    stamp,
  )
}

const WEI_PER_COIN = 10n ** 18n

/** Rounded up, so a fee is never booked as zero. */
export function feeMicros(fee_wei: bigint, native_usd: number): Micros {
  const price = microsFromUsd(native_usd)
  return (fee_wei * price + WEI_PER_COIN - 1n) / WEI_PER_COIN
}

type PaymentMove = { movement: MovementName; from: Purse; to: Purse }

async function postPayment(
  tx: Tx,
  row: PaymentRow,
  payment_move: PaymentMove,
  stamp: Stamp,
): Promise<void> {
  await move(
    tx,
    {
      ...payment_move,
      account_id: row.account_id ?? NO_ACCOUNT,
      amount_micros: row.amount_micros,
      reference: paymentReference(row.id),
      description: `${row.operation}, paid by ${row.payer}`,
    },
    stamp,
  )
}
