import { CENT, type Micros } from './amounts.ts'
import { spendingOf } from './budgets.ts'
import type { Actor, Limits, MerchantLock, Outcome, OwnerCommand, Rules } from './commands.ts'
import { creditTreasury } from './money.ts'
import { type Card, newUsage, ok, refused, type Scope, type SpendLimits } from './state.ts'

const ALL: Rules = { allow: null, deny: null }
const NO_LIMITS: Limits = { per_transaction: null, daily: null, monthly: null }

type IssueCommand = Extract<OwnerCommand, { op: 'issue_card' }>

export function issueCard(scope: Scope, command: IssueCommand): Outcome {
  const { programme, account } = scope
  const { limits } = programme
  const { load = 0n, card: name } = command
  if (load % CENT !== 0n) return refused('invalid_amount')
  const isAbove = isAboveProgramme(command.limits ?? {}, limits)
  if (isAbove) return refused('amount_out_of_range')
  const { usage: usage_kind = 'reusable', lock = null, valid_until = null } = command
  if (lock !== null && usage_kind !== 'merchant_locked') return refused('invalid_merchant_lock')
  if (valid_until !== null && !isAhead(valid_until, programme.now)) {
    return refused('invalid_request')
  }
  if (load !== 0n && isLoadOutOfRange(load, limits)) return refused('amount_out_of_range')
  const live = [...account.cards.values()].filter(({ status }) => status !== 'cancelled')
  if (live.length >= limits.cards_max) return refused('cards_limit_reached')
  const spending = spendingOf(scope, command)
  if (load > 0n && spending.isRefused(load)) return refused('approval_required')
  if (load > 0n && (load > account.balance || account.owed > 0n)) {
    return refused('insufficient_balance')
  }
  account.balance -= load
  account.cards.set(name, {
    name,
    status: 'active',
    frozen_by: null,
    balance: load,
    held: 0n,
    limits: { ...NO_LIMITS, ...command.limits },
    mcc: { ...ALL, ...command.mcc },
    geo: { ...ALL, ...command.geo },
    expires: command.expires ?? null,
    ...{ usage_kind, lock, valid_until, is_used: false },
    replaced_by: null,
    usage: newUsage(),
    failures: [],
  })
  if (load > 0n) spending.charge(name, load)
  return ok(load)
}

/** One hour to five years ahead; the time that a request takes is not counted. */
const isAhead = (valid_until: number, now: number): boolean => {
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + 5)
  return valid_until >= now + 59 * MINUTE_MS && valid_until <= latest.getTime() + MINUTE_MS
}

const MINUTE_MS = 60_000

/**
 * Contract 10.2: the first approved authorization of more than zero cancels a single-use card; the
 * first approved one, of zero too, sets the lock of a merchant-locked card.
 */
export function useCard(scope: Scope, card: Card, approved: ApprovedPurchase): void {
  if (card.status === 'cancelled') return
  if (card.usage_kind === 'merchant_locked') {
    card.lock ??= { name: approved.merchant.name, id: approved.merchant.id }
  }
  if (card.usage_kind !== 'single_use' || approved.amount === 0n) return
  cancelCard(scope, card)
  card.is_used = true
}

type ApprovedPurchase = { merchant: MerchantLock; amount: Micros }

const isLoadOutOfRange = (amount: Micros, { load_min, load_max }: SpendLimits): boolean =>
  amount < load_min || amount > load_max

function isAboveProgramme(limits: Partial<Limits>, programme: SpendLimits): boolean {
  const { per_transaction, daily, monthly } = { ...NO_LIMITS, ...limits }
  return (
    (per_transaction ?? 0n) > programme.per_transaction_max ||
    (daily ?? 0n) > programme.daily_max ||
    (monthly ?? 0n) > programme.monthly_max
  )
}

type LoadCommand = Extract<OwnerCommand, { op: 'load_card' }>

/** Holds count towards the maximum, because releasing one must not pass it. */
export function loadCard(scope: Scope, card: Card, command: LoadCommand): Outcome {
  const { programme, account } = scope
  const { limits } = programme
  const { amount } = command
  if (amount % CENT !== 0n) return refused('invalid_amount')
  if (card.status === 'cancelled') return refused('card_cancelled')
  const isTooMuch = card.balance + card.held + amount > limits.card_balance_max
  if (isLoadOutOfRange(amount, limits) || isTooMuch) return refused('amount_out_of_range')
  const spending = spendingOf(scope, command)
  if (spending.isRefused(amount)) return refused('approval_required')
  if (account.owed > 0n || amount > account.balance) return refused('insufficient_balance')
  account.balance -= amount
  card.balance += amount
  spending.charge(card.name, amount)
  return ok(amount)
}

type UnloadCommand = Extract<OwnerCommand, { op: 'unload_card' }>

export function unloadCard(scope: Scope, card: Card, command: UnloadCommand): Outcome {
  const { amount } = command
  if (amount !== undefined && amount % CENT !== 0n) return refused('invalid_amount')
  if (amount === 0n) return refused('amount_out_of_range')
  const unloaded = amount ?? card.balance
  if (unloaded === 0n || unloaded > card.balance) return refused('insufficient_card_balance')
  card.balance -= unloaded
  creditTreasury(scope.account, unloaded)
  spendingOf(scope, command).giveBack(card.name, unloaded)
  return ok(unloaded)
}

export function freezeCard(card: Card, by: Actor): Outcome {
  if (card.status === 'cancelled') return refused('card_cancelled')
  if (card.status === 'frozen' && by !== 'admin') return ok()
  card.status = 'frozen'
  card.frozen_by = by
  return ok()
}

export function unfreezeCard(card: Card, by: Actor): Outcome {
  if (card.status === 'cancelled') return refused('card_cancelled')
  if (card.status !== 'frozen') return refused('card_not_frozen')
  if (card.frozen_by === 'admin' && by !== 'admin') return refused('policy_denied')
  card.status = 'active'
  card.frozen_by = null
  return ok()
}

/** The spendable balance returns to the treasury; holds stay until captured or released. */
export function cancelCard({ account }: Scope, card: Card): Outcome {
  if (card.status === 'cancelled') return ok()
  card.status = 'cancelled'
  creditTreasury(account, card.balance)
  card.balance = 0n
  return ok()
}

type ReplaceCommand = Extract<OwnerCommand, { op: 'replace_card' }>

/** Balance, limits with their usage and rules move; open holds stay with the old card. */
export function replaceCard(
  { account }: Scope,
  card: Card,
  { replacement, expires }: ReplaceCommand,
): Outcome {
  if (card.status === 'cancelled') return refused('card_cancelled')
  if (card.frozen_by === 'admin') return refused('policy_denied')
  account.cards.set(replacement, {
    ...card,
    name: replacement,
    status: 'active',
    frozen_by: null,
    held: 0n,
    expires: expires ?? card.expires,
    failures: [],
  })
  Object.assign(card, { status: 'cancelled', balance: 0n, replaced_by: replacement })
  return ok()
}

export function setLimits({ programme }: Scope, card: Card, limits: Partial<Limits>): Outcome {
  if (Object.values(limits).some((limit) => (limit ?? 0n) % CENT !== 0n)) {
    return refused('invalid_amount')
  }
  if (card.status === 'cancelled') return refused('card_cancelled')
  if (isAboveProgramme(limits, programme.limits)) return refused('amount_out_of_range')
  card.limits = { ...card.limits, ...limits }
  return ok()
}

export function setRules(card: Card, kind: 'mcc' | 'geo', rules: Partial<Rules>): Outcome {
  if (card.status === 'cancelled') return refused('card_cancelled')
  card[kind] = { ...card[kind], ...rules }
  return ok()
}
