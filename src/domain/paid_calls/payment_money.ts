import type { MovementName } from '#domain/ledger/movements.ts'
import { move, type Stamp } from '#domain/ledger/post.ts'
import { fees, gas, type Purse, payers, prepaid, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type PaymentRow, paymentReference } from './payment.ts'
import { type Mined, markMined, releasePayment, stepPayment } from './payment_store.ts'

/** Whose movement it is where no account is concerned: nothing of a customer's is touched. */
const NOBODY = 'programme'

/** The coins have come: from here on a call, or the money, is owed. */
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

/** In the transaction of the work itself: a call without a payment, or the reverse, cannot be. */
export async function spend(tx: Tx, row: PaymentRow, stamp: Stamp): Promise<void> {
  const isOurs = await stepPayment(tx, row, { from: ['settled'], to: 'spent' }, stamp.now)
  if (!isOurs) throw new Error('the payment was taken back while its call was running')
  await postPayment(tx, row, { movement: 'call_earned', from: prepaid, to: fees }, stamp)
}

/** Its call was refused, or answered without it: the money goes back by a task. */
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

type Fee = { txid: string; ok: boolean; fee_wei: bigint; native_usd: number }

/** What the network took for a transfer of ours, whether or not it did what it should. */
export async function bookRelayerFee(tx: Tx, row: PaymentRow, fee: Fee, stamp: Stamp): Promise<void> {
  const mined: Mined = { ...fee, fee_micros: feeMicros(fee.fee_wei, fee.native_usd) }
  const isNews = await markMined(tx, fee.txid, mined, stamp.now)
  if (!isNews || mined.fee_micros === 0n) return
  const way = { movement: 'relayer_fee_paid', from: fees, to: gas } as const
  // The operator's own cost, whoever the call was for.
  await postPayment(tx, { ...row, account_id: null, amount_micros: mined.fee_micros }, way, stamp)
}

const WEI_PER_COIN = 10n ** 18n

/** Rounded up: what was paid is never nothing. */
export function feeMicros(fee_wei: bigint, native_usd: number): Micros {
  const price = microsFromUsd(native_usd)
  return (fee_wei * price + WEI_PER_COIN - 1n) / WEI_PER_COIN
}

type Way = { movement: MovementName; from: Purse; to: Purse }

async function postPayment(tx: Tx, row: PaymentRow, way: Way, stamp: Stamp): Promise<void> {
  await move(
    tx,
    {
      ...way,
      account_id: row.account_id ?? NOBODY,
      amount_micros: row.amount_micros,
      reference: paymentReference(row.id),
      description: `${row.operation}, paid by ${row.payer}`,
    },
    stamp,
  )
}
