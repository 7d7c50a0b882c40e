import { chain, payout, suspense, treasury } from '#domain/ledger/purse.ts'
import {
  closeTopup,
  findHoldReason,
  sumTowardsMinimum,
  type TransferRow,
  toPendingTransfer,
  withOutcome,
  withTransfers,
} from '#domain/topups/deposits.ts'
import {
  type PendingTransfer,
  requireCancellable,
  requireTopupAmount,
  type TopupRow,
} from '#domain/topups/topup.ts'
import { requireWithdrawalAmount, requireWithinDay } from '#domain/withdrawals/withdrawal.ts'
import { microsFromUsd, usdFromMicros } from '#kernel/money.ts'
import type { Outcome } from '#test/simulation/model/commands.ts'
import type { CoreTopup, CoreWithdrawal } from './account_rows.ts'
import {
  type CallContext,
  type Calls,
  moveMoney,
  notFound,
  ok,
  requireActive,
  requireRail,
} from './call_context.ts'

type TopupOp =
  | 'create_topup'
  | 'cancel_topup'
  | 'expire_topup'
  | 'see_transfer'
  | 'settle_transfer'
  | 'lose_transfer'
  | 'release_transfer'
  | 'withdraw'
  | 'broadcast_withdrawal'
  | 'complete_withdrawal'
  | 'fail_withdrawal'

const WINDOW_MS = 3_600_000

export const topup_calls: Calls<TopupOp> = {
  create_topup: (context, { topup: name, amount }) => {
    const { core, rows, now } = context
    requireActive(context)
    const amount_micros = requireTopupAmount(usdFromMicros(amount), core.settings.spend_limits)
    requireRail(context, 'topups')
    rows.topups.set(name, { row: newTopup(rows.id, { name, amount_micros, now }), finals: [] })
    return ok()
  },
  cancel_topup: (context, { topup: name }) => {
    requireActive(context)
    const topup = topupOf(context, name)
    requireCancellable(topup.row)
    topup.row = closeTopup(topup.row, 'cancelled_by_user', context.now)
    return ok()
  },
  expire_topup: (context, { topup: name }) => {
    const topup = topupOf(context, name)
    requireCancellable(topup.row)
    const { expires_at } = topup.row
    const closes_at = expires_at < context.now ? expires_at : context.now
    topup.row = closeTopup({ ...topup.row, expires_at: closes_at }, 'expired', closes_at)
    return ok()
  },
  see_transfer: (context, { topup: name, transfer, amount, at }) => {
    const topup = topupOf(context, name)
    const block_at = new Date(at ?? context.now)
    const deposit = { ...DEPOSIT, txid: transfer, block_at, value: amount }
    const seen = toPendingTransfer(topup.row, deposit)
    setTransfers(topup, [...topup.row.pending, seen])
    times.set(seen, block_at)
    return ok()
  },
  lose_transfer: (context, { topup: name, transfer }) => {
    const topup = topupOf(context, name)
    const left = topup.row.pending.filter(({ txid }) => txid !== transfer)
    if (left.length === topup.row.pending.length) throw notFound()
    setTransfers(topup, left)
    return ok()
  },
  settle_transfer: (context, { topup: name, transfer, is_blocked }) => {
    const topup = topupOf(context, name)
    const pending = topup.row.pending.find(({ txid }) => txid === transfer)
    if (pending === undefined) throw notFound()
    return settle(context, topup, { pending, is_blocked: is_blocked ?? false })
  },
  release_transfer: async (context, { topup: name, transfer }) => {
    requireRail(context, 'topups')
    const topup = topupOf(context, name)
    const held = topup.finals.find(({ txid, state }) => txid === transfer && state === 'held')
    if (held === undefined) throw notFound()
    await release(context, held)
    topup.row = withOutcome(topup.row, null, context.now)
    setTransfers(topup, topup.row.pending)
    return ok(held.value_micros)
  },
  withdraw: async (context, { withdrawal, amount }) => {
    const { core, rows, now } = context
    const { spend_limits } = core.settings
    requireActive(context)
    const amount_micros = requireWithdrawalAmount(usdFromMicros(amount), spend_limits)
    requireRail(context, 'withdrawals')
    const before = rows.purses.map((purse) => ({ ...purse }))
    const step = { movement: 'withdrawal_reserved', from: treasury, to: payout } as const
    await moveMoney(context, { amount_micros, ...step })
    try {
      requireWithinDay(withdrawnToday(context) + amount_micros, spend_limits)
    } catch (cause) {
      // The transaction is rolled back.
      rows.purses = before
      throw cause
    }
    rows.withdrawals.set(withdrawal, { amount_micros, status: 'pending', created_at: now })
    return ok(amount_micros)
  },
  broadcast_withdrawal: (context, { withdrawal }) =>
    advance(context, withdrawal, { from: ['pending'], to: 'broadcasted' }),
  complete_withdrawal: (context, { withdrawal }) =>
    advance(context, withdrawal, { from: ['broadcasted'], to: 'completed' }),
  fail_withdrawal: async (context, { withdrawal }) => {
    const failed = advance(context, withdrawal, { from: ['pending', 'broadcasted'], to: 'failed' })
    const amount_micros = context.rows.withdrawals.get(withdrawal)?.amount_micros ?? 0n
    const step = { movement: 'withdrawal_returned', from: payout, to: treasury } as const
    await moveMoney(context, { amount_micros, ...step })
    return failed
  },
}

/** The time of a pending transfer's block; the watcher reads it again when it is final. */
const times = new WeakMap<PendingTransfer, Date>()

const DEPOSIT = {
  ordinal: 0,
  block_number: 1,
  block_hash: '',
  asset: 'USDT',
  from: '',
  to: '',
}

function topupOf({ rows }: CallContext, name: string): CoreTopup {
  const topup = rows.topups.get(name)
  if (topup === undefined) throw notFound()
  return topup
}

function setTransfers(topup: CoreTopup, pending: PendingTransfer[]): void {
  const { finals } = topup
  topup.row = withTransfers(topup.row, {
    final_transfers: finals,
    pending,
    showTxid: (txid) => txid,
  })
}

type FinalTransfer = { pending: PendingTransfer; is_blocked: boolean }

/** The steps of settleTransfer in settle_deposits.ts. */
async function settle(
  context: CallContext,
  topup: CoreTopup,
  { pending, is_blocked }: FinalTransfer,
): Promise<Outcome> {
  const { core, now } = context
  const value_micros = BigInt(pending.value)
  const held_reason = findHoldReason({
    screening: { decision: is_blocked ? 'block' : 'allow', source: '', list_version: '' },
    is_killed: core.killed.has('topups'),
    counted_micros: sumTowardsMinimum(topup.finals) + value_micros,
    minimum_micros: microsFromUsd(core.settings.spend_limits.deposit_min_usd),
  })
  const amount_micros = value_micros
  let credited = 0n
  if (held_reason !== null) {
    const step = { movement: 'topup_suspended', from: chain, to: suspense } as const
    await moveMoney(context, { amount_micros, ...step })
  } else {
    const step = { movement: 'topup_settled', from: chain, to: treasury } as const
    await moveMoney(context, { amount_micros, ...step })
    credited = value_micros + (await releaseSmall(context, topup))
  }
  topup.finals.push({
    txid: pending.txid,
    ordinal: 0,
    block_number: 1n,
    value_micros,
    held_reason,
    block_at: times.get(pending) ?? now,
    movement_id: '',
    state: held_reason === null ? 'credited' : 'held',
  })
  const left = topup.row.pending.filter((one) => one !== pending)
  topup.row = withOutcome(topup.row, held_reason, now)
  setTransfers(topup, left)
  return ok(credited)
}

async function releaseSmall(context: CallContext, { finals }: CoreTopup): Promise<bigint> {
  const small = finals.filter(
    ({ state, held_reason }) => state === 'held' && held_reason === 'below_minimum',
  )
  for (const row of small) await release(context, row)
  return small.reduce((sum, { value_micros }) => sum + value_micros, 0n)
}

async function release(context: CallContext, row: TransferRow): Promise<void> {
  const step = { movement: 'suspense_released', from: suspense, to: treasury } as const
  await moveMoney(context, { amount_micros: row.value_micros, ...step })
  row.state = 'released'
}

type NewTopup = { name: string; amount_micros: bigint; now: Date }

function newTopup(account_id: string, { name, amount_micros, now }: NewTopup): TopupRow {
  return {
    account_id,
    id: name,
    asset: 'USDT',
    chain: 'tron',
    deposit_address: '',
    amount_micros,
    status: 'awaiting',
    status_reason: null,
    resting_status: 'awaiting',
    resting_reason: null,
    pending: [],
    pending_micros: 0n,
    final_micros: 0n,
    credited_micros: 0n,
    is_late: false,
    txids: [],
    last_block: null,
    qr_data_uri: '',
    payment_uri: '',
    expires_at: new Date(now.getTime() + WINDOW_MS),
    closed_at: null,
    completed_at: null,
    metadata: {},
    version: 1n,
    created_at: now,
    updated_at: now,
    head_number: null,
  }
}

/** As sumWithdrawnToday does in SQL. */
function withdrawnToday({ rows, now }: CallContext): bigint {
  const today = now.toISOString().slice(0, 10)
  return [...rows.withdrawals.values()]
    .filter(({ status, created_at }) => {
      return status !== 'failed' && created_at.toISOString().slice(0, 10) >= today
    })
    .reduce((sum, { amount_micros }) => sum + amount_micros, 0n)
}

type Advance = { from: CoreWithdrawal['status'][]; to: CoreWithdrawal['status'] }

function advance({ rows }: CallContext, name: string, { from, to }: Advance): Outcome {
  const withdrawal = rows.withdrawals.get(name)
  if (withdrawal === undefined || !from.includes(withdrawal.status)) throw notFound()
  withdrawal.status = to
  return ok()
}
