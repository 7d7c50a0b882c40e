import type { Micros } from '#kernel/money.ts'
import type { Screening } from '#rails/screening/screening.ts'
import type { PendingTransfer, TopupRow } from './topup.ts'

/** A transfer of a configured asset to one of our addresses, in a receipt with status success. */
export type Deposit = {
  txid: string
  /** Its index among the logs of its transaction; unlike log_index, no reorg changes it. */
  ordinal: number
  block_number: number
  block_hash: string
  block_at: Date
  asset: string
  from: string
  to: string
  value: bigint
}

export type DepositOwner = { address: string; account_id: string; topup_id: string }
export type OwnedDeposit = Deposit & DepositOwner
export type ScreenedDeposit = OwnedDeposit & { screening: Screening }

/** A recorded final transfer. */
export type TransferRow = {
  txid: string
  ordinal: number
  block_number: bigint
  block_at: Date
  value_micros: Micros
  state: 'credited' | 'held' | 'released' | 'refunding' | 'refunded'
  held_reason: HeldReason | null
  movement_id: string
}

/** A transfer of an address to itself, or of nothing, brings no coins. */
export const isNonZero = ({ from, to, value }: Pick<Deposit, 'from' | 'to' | 'value'>): boolean =>
  from !== to && value > 0n

export type HeldReason = 'below_minimum' | 'screening' | 'kill_switch'

/** The reason why a final transfer is held; null if it is credited. Screening comes first. */
export function findHoldReason(input: {
  screening: Screening
  is_killed: boolean
  /** The sum that counts towards the minimum, this transfer included. */
  counted_micros: Micros
  minimum_micros: Micros
}): HeldReason | null {
  if (input.screening.decision !== 'allow') return 'screening'
  if (input.is_killed) return 'kill_switch'
  return input.counted_micros < input.minimum_micros ? 'below_minimum' : null
}

/** Credited with the transfer that brings their sum above the minimum. */
export const isBelowMinimum = ({ state, held_reason }: TransferRow): boolean =>
  state === 'held' && held_reason === 'below_minimum'

/** Transfers held for screening or by a kill switch don't count: an operator decides on them. */
export function sumTowardsMinimum(rows: readonly TransferRow[]): Micros {
  return sumOf(
    rows.filter(
      (row) => row.state === 'credited' || row.state === 'released' || isBelowMinimum(row),
    ),
  )
}

const sumOf = (rows: readonly TransferRow[]): Micros =>
  rows.reduce((sum, { value_micros }) => sum + value_micros, 0n)

export const transferKey = ({ txid, ordinal }: { txid: string; ordinal: number }): string =>
  `${txid}:${ordinal}`

/** Block times are in whole seconds, so the block may be as late as the end of its second. */
const ROUNDING_MS = 999

export function isLate(topup: TopupRow, block_at: Date): boolean {
  const closed_at = topup.closed_at ?? topup.expires_at
  return block_at.getTime() + ROUNDING_MS >= closed_at.getTime()
}

export function toPendingTransfer(topup: TopupRow, deposit: Deposit): PendingTransfer {
  const { txid, ordinal, value, block_number, block_at } = deposit
  return {
    txid,
    ordinal,
    value: value.toString(),
    block_number,
    is_late: isLate(topup, block_at),
  }
}

type TopupTransfers = {
  final_transfers: readonly TransferRow[]
  pending: readonly PendingTransfer[]
  showTxid(txid: string): string
}

/** Computes every field of a top-up that follows from its transfers, from all of them. */
export function withTransfers(
  topup: TopupRow,
  { final_transfers, pending, showTxid }: TopupTransfers,
): TopupRow {
  const blocks = [...final_transfers, ...pending].map(({ block_number }) => BigInt(block_number))
  const txids = [...final_transfers, ...pending].map(({ txid }) => showTxid(txid))
  const credited = final_transfers.filter(
    ({ state }) => state === 'credited' || state === 'released',
  )
  return withVisibleStatus({
    ...topup,
    pending: [...pending],
    pending_micros: pending.reduce((sum, { value }) => sum + BigInt(value), 0n),
    final_micros: sumOf(final_transfers),
    credited_micros: sumOf(credited),
    is_late: [
      ...final_transfers.map(({ block_at }) => isLate(topup, block_at)),
      ...pending.map((one) => one.is_late),
    ].some(Boolean),
    txids: [...new Set(txids)],
    last_block: blocks.at(-1) ?? null,
    ...reorgReason(topup, final_transfers, pending),
  })
}

/**
 * The same for one more final transfer, the last in order, and the smaller ones that it releases.
 * It leaves out the txids, so that it takes as long for the last of thousands as for the first.
 */
export function addFinalTransfer(
  topup: TopupRow,
  transfer: TransferRow,
  released_micros: Micros,
): TopupRow {
  const { value_micros, state, block_at, block_number } = transfer
  const credited_micros = state === 'credited' ? value_micros + released_micros : 0n
  return withVisibleStatus({
    ...topup,
    final_micros: topup.final_micros + value_micros,
    credited_micros: topup.credited_micros + credited_micros,
    is_late: topup.is_late || isLate(topup, block_at),
    last_block: topup.pending.length > 0 ? topup.last_block : block_number,
  })
}

/** A transfer that was pending and is now neither pending nor final has left the chain. */
function reorgReason(
  topup: TopupRow,
  final_transfers: readonly TransferRow[],
  pending: readonly PendingTransfer[],
): Partial<TopupRow> {
  if (topup.resting_status !== 'awaiting') return {}
  if (pending.length > 0) return { resting_reason: null }
  const known = new Set(final_transfers.map(transferKey))
  const hasVanished = topup.pending.some((one) => !known.has(transferKey(one)))
  return hasVanished ? { resting_reason: 'reorg' } : {}
}

/** A top-up with pending transfers is confirming; without, it has its resting status. */
function withVisibleStatus(topup: TopupRow): TopupRow {
  if (topup.pending.length > 0) return { ...topup, status: 'confirming', status_reason: null }
  return { ...topup, status: topup.resting_status, status_reason: topup.resting_reason }
}

/** Its resting status follows from the last final transfer. */
export function withOutcome(topup: TopupRow, held: HeldReason | null, now: Date): TopupRow {
  return held === null
    ? { ...topup, resting_status: 'completed', resting_reason: null, completed_at: now }
    : { ...topup, resting_status: 'error', resting_reason: held }
}

export function closeTopup(
  topup: TopupRow,
  reason: 'expired' | 'cancelled_by_user',
  at: Date,
): TopupRow {
  return withVisibleStatus({
    ...topup,
    resting_status: 'cancelled',
    resting_reason: reason,
    closed_at: at,
  })
}
