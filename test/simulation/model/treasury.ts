import { CENT, dayOf, type Micros } from './amounts.ts'
import { spendingOf } from './budgets.ts'
import type { Command, Outcome } from './commands.ts'
import { creditTreasury } from './money.ts'
import { ok, refused, type Scope, type Topup, type Transfer, type Withdrawal } from './state.ts'

/** Top-ups with their on-chain transfers, and withdrawals. */

export function createTopup({ programme, account }: Scope, name: string, amount: Micros): Outcome {
  const { now, limits, topup_window_ms, killed } = programme
  if (amount % CENT !== 0n) return refused('invalid_amount')
  if (amount < limits.topup_min || amount > limits.topup_max) return refused('amount_out_of_range')
  if (killed.has('topups')) return refused('kill_switch_active')
  account.topups.set(name, {
    ...{ amount, status: 'awaiting', reason: null, closed_at: null, transfers: new Map() },
    expires_at: now + topup_window_ms,
  })
  return ok()
}

const pendingOf = ({ transfers }: Topup): Transfer[] =>
  [...transfers.values()].filter(({ state }) => state === 'pending')

export const topupStatus = (topup: Topup): Topup['status'] | 'confirming' =>
  pendingOf(topup).length > 0 ? 'confirming' : topup.status

export function closeTopup(
  { programme }: Scope,
  topup: Topup,
  reason: 'expired' | 'cancelled_by_user',
): Outcome {
  if (topupStatus(topup) !== 'awaiting') return refused('topup_not_cancellable')
  topup.status = 'cancelled'
  topup.reason = reason
  topup.closed_at = Math.min(programme.now, topup.expires_at)
  return ok()
}

/** `late` wins over `partial`, `exact` and `over`. */
export function paymentState(topup: Topup): 'none' | 'partial' | 'exact' | 'over' | 'late' {
  const transfers = [...topup.transfers.values()]
  const received = receivedOf(topup)
  if (received === 0n) return 'none'
  if (transfers.some(({ is_late }) => is_late)) return 'late'
  if (received === topup.amount) return 'exact'
  return received < topup.amount ? 'partial' : 'over'
}

const sum = (transfers: readonly Transfer[]): Micros =>
  transfers.reduce((total, { amount }) => total + amount, 0n)

export const receivedOf = ({ transfers }: Topup): Micros => sum([...transfers.values()])

export const creditedOf = ({ transfers }: Topup): Micros =>
  sum([...transfers.values()].filter(({ state }) => state === 'credited'))

type NewTransfer = { transfer: string; amount: Micros; at?: number }

export function seeTransfer({ programme }: Scope, topup: Topup, command: NewTransfer): Outcome {
  const { transfer, amount, at = programme.now } = command
  // Block times are whole seconds, so the transfer may have come at the end of its second.
  const is_late = at + 999 >= (topup.closed_at ?? topup.expires_at)
  topup.transfers.set(transfer, { amount, is_late, state: 'pending', reason: null })
  if (topup.status === 'awaiting') topup.reason = null
  return ok()
}

/** The top-up is awaiting again, with the reason, until the next transfer. */
export function loseTransfer(topup: Topup, name: string): Outcome {
  if (topup.transfers.get(name)?.state !== 'pending') return refused('not_found')
  topup.transfers.delete(name)
  if (topup.status === 'awaiting' && pendingOf(topup).length === 0) topup.reason = 'reorg'
  return ok()
}

type FinalTransfer = { transfer: string; is_blocked?: boolean }

/** Credits a final transfer, or holds it in suspense with a reason. */
export function settleTransfer({ programme, account }: Scope, topup: Topup, final: FinalTransfer) {
  const transfer = topup.transfers.get(final.transfer)
  if (transfer?.state !== 'pending') return refused('not_found')
  const small = [...topup.transfers.values()].filter(({ reason }) => reason === 'below_minimum')
  const counted = creditedOf(topup) + sum(small) + transfer.amount
  transfer.reason = final.is_blocked
    ? 'screening'
    : programme.killed.has('topups')
      ? 'kill_switch'
      : counted < programme.limits.deposit_min
        ? 'below_minimum'
        : null
  transfer.state = transfer.reason === null ? 'credited' : 'held'
  topup.reason = transfer.reason
  topup.status = transfer.reason === null ? 'completed' : 'error'
  if (transfer.reason !== null) return ok(0n)
  for (const one of small) Object.assign(one, { state: 'credited', reason: null })
  const credited = transfer.amount + sum(small)
  creditTreasury(account, credited)
  return ok(credited)
}

/** An operator credits a transfer that is held. */
export function releaseTransfer({ account }: Scope, topup: Topup, name: string) {
  const transfer = topup.transfers.get(name)
  if (transfer?.state !== 'held') return refused('not_found')
  Object.assign(transfer, { state: 'credited', reason: null })
  Object.assign(topup, { status: 'completed', reason: null })
  creditTreasury(account, transfer.amount)
  return ok(transfer.amount)
}

type WithdrawCommand = Extract<Command, { op: 'withdraw' }>

/** The amount leaves the balance when the withdrawal is created, its fee included. */
export function withdraw(scope: Scope, command: WithdrawCommand): Outcome {
  const { programme, account } = scope
  const { now, limits, killed } = programme
  const { withdrawal: name, amount } = command
  const isTooSmall = amount < limits.withdrawal_min || amount <= limits.withdrawal_fee
  if (isTooSmall || amount > limits.withdrawal_max) return refused('amount_out_of_range')
  if (killed.has('withdrawals')) return refused('kill_switch_active')
  const spending = spendingOf(scope, command)
  if (spending.isRefused(amount)) return refused('approval_required')
  if (account.owed > 0n || amount > account.balance) return refused('insufficient_balance')
  const today = dayOf(now)
  const used = [...account.withdrawals.values()]
    .filter(({ status, created_on }) => status !== 'failed' && created_on === today)
    .reduce((total, one) => total + one.amount, amount)
  if (used > limits.withdrawal_daily) return refused('amount_out_of_range')
  account.balance -= amount
  const fee = limits.withdrawal_fee
  spending.charge(null, amount)
  account.withdrawals.set(name, { amount, fee, status: 'pending', created_on: today })
  return ok(amount)
}

const NEXT = {
  broadcast_withdrawal: { from: ['pending'], to: 'broadcasted' },
  complete_withdrawal: { from: ['broadcasted'], to: 'completed' },
  fail_withdrawal: { from: ['pending', 'broadcasted'], to: 'failed' },
} as const

/** A failed withdrawal returns its whole amount. */
export function advanceWithdrawal(
  { account }: Scope,
  withdrawal: Withdrawal,
  op: keyof typeof NEXT,
): Outcome {
  const { from, to } = NEXT[op]
  if (!from.some((status) => status === withdrawal.status)) return refused('not_found')
  withdrawal.status = to
  if (to === 'failed') creditTreasury(account, withdrawal.amount)
  return ok()
}
