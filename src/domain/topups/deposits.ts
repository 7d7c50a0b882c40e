import type { Micros } from '#kernel/money.ts'
import type { Screening } from '#rails/screening/screening.ts'
import type { PendingTransfer, TopupRow } from './topup.ts'

/** A transfer of a configured asset to one of our addresses, in a receipt that says success. */
export type Deposit = {
  txid: string
  /** Its place among the logs of its own transaction: the one number that no reorg changes. */
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

/** A final transfer as it is recorded. */
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

export type HeldReason = 'below_minimum' | 'screening' | 'kill_switch'

/** Why a final transfer is not credited, or null. What may not be touched stands first. */
export function findHoldReason(facts: {
  screening: Screening
  is_killed: boolean
  /** All that arrived and may be touched, this transfer included. */
  clear_micros: Micros
  minimum_micros: Micros
}): HeldReason | null {
  if (facts.screening.decision !== 'allow') return 'screening'
  if (facts.is_killed) return 'kill_switch'
  return facts.clear_micros < facts.minimum_micros ? 'below_minimum' : null
}

/** What counts towards the minimum: all but what a person must look at. */
export function sumTowardsMinimum(rows: readonly TransferRow[]): Micros {
  return sumOf(
    rows.filter(
      ({ state, held_reason }) =>
        state === 'credited' ||
        state === 'released' ||
        (state === 'held' && held_reason === 'below_minimum'),
    ),
  )
}

const sumOf = (rows: readonly TransferRow[]): Micros =>
  rows.reduce((sum, { value_micros }) => sum + value_micros, 0n)

export const transferKey = ({ txid, ordinal }: { txid: string; ordinal: number }): string =>
  `${txid}:${ordinal}`

/** Nodes tell a block's time in whole seconds: it may have come as late as the end of that one. */
const SECOND_MS = 999

export function isLate(topup: TopupRow, block_at: Date): boolean {
  const closed_at = topup.closed_at ?? topup.expires_at
  return block_at.getTime() + SECOND_MS >= closed_at.getTime()
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

type Facts = {
  finals: readonly TransferRow[]
  pending: readonly PendingTransfer[]
  showTxid(txid: string): string
}

/** Everything about a top-up that follows from its transfers, worked out anew from all of them. */
export function withTransfers(topup: TopupRow, { finals, pending, showTxid }: Facts): TopupRow {
  const blocks = [...finals, ...pending].map(({ block_number }) => BigInt(block_number))
  const txids = [...finals, ...pending].map(({ txid }) => showTxid(txid))
  const credited = finals.filter(({ state }) => state === 'credited' || state === 'released')
  return withVisibleStatus({
    ...topup,
    pending: [...pending],
    pending_micros: pending.reduce((sum, { value }) => sum + BigInt(value), 0n),
    final_micros: sumOf(finals),
    credited_micros: sumOf(credited),
    is_late: [
      ...finals.map(({ block_at }) => isLate(topup, block_at)),
      ...pending.map((one) => one.is_late),
    ].some(Boolean),
    txids: [...new Set(txids)],
    last_block: blocks.at(-1) ?? null,
    ...reorgReason(topup, finals, pending),
  })
}

/** A transfer that was there and is neither pending nor final any more has left the chain. */
function reorgReason(
  topup: TopupRow,
  finals: readonly TransferRow[],
  pending: readonly PendingTransfer[],
): Partial<TopupRow> {
  if (topup.resting_status !== 'awaiting') return {}
  if (pending.length > 0) return { resting_reason: null }
  const known = new Set(finals.map(transferKey))
  const hasVanished = topup.pending.some((one) => !known.has(transferKey(one)))
  return hasVanished ? { resting_reason: 'reorg' } : {}
}

/** While something is pending it is confirming; else it is what it was or has become. */
function withVisibleStatus(topup: TopupRow): TopupRow {
  if (topup.pending.length > 0) return { ...topup, status: 'confirming', status_reason: null }
  return { ...topup, status: topup.resting_status, status_reason: topup.resting_reason }
}

/** The outcome of its last final transfer. */
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
