import { DAY_MS, HOUR_MS, type Micros } from './amounts.ts'
import type { CardRequest, Limits, MerchantLock, Rules } from './commands.ts'
import { type Card, type Challenge, GUESSABLE, type Row, type Scope } from './state.ts'
import { spentOn } from './usage.ts'

/**
 * The checks of an authorization in the contract's order (section 6), with the additions of the
 * card host: reversed before, paused, suspended, expiry date, attempts, PIN, type, amount.
 */

const ATTEMPTS_MAX = 5

const recentFailures = (card: Card, now: number): number[] =>
  card.failures.filter((at) => now - at < DAY_MS)

const areAttemptsUsedUp = (card: Card, now: number): boolean =>
  recentFailures(card, now).length >= ATTEMPTS_MAX

export function addFailure(card: Card, now: number): void {
  card.failures = [...recentFailures(card, now), now].slice(-ATTEMPTS_MAX)
}

/** A card is valid to the end of its month in the last time zone, UTC-12. */
function isExpired({ expires, valid_until }: Card, now: number): boolean {
  if (valid_until !== null && now > valid_until) return true
  if (expires === null) return false
  const [year = 0, month = 0] = expires.split('-').map(Number)
  return now >= Date.UTC(year, month, 1) + 12 * HOUR_MS
}

/** Null if no CVV was sent, or if it is no longer evaluated. */
export function codeResult({ code }: CardRequest, card: Card, now: number): boolean | null {
  if (code === undefined || areAttemptsUsedUp(card, now)) return null
  return code === 'right'
}

/** Null: the holder set no limit, so the programme's counts. Zero blocks. */
const lowerOf = (own: Micros | null, programme: Micros): Micros =>
  own !== null && own < programme ? own : programme

function limitsOf({ limits }: Card, { programme }: Scope): { [Name in keyof Limits]: Micros } {
  const { per_transaction_max, daily_max, monthly_max } = programme.limits
  return {
    per_transaction: lowerOf(limits.per_transaction, per_transaction_max),
    daily: lowerOf(limits.daily, daily_max),
    monthly: lowerOf(limits.monthly, monthly_max),
  }
}

const isInRange = (entry: string, code: string): boolean => {
  const [low = '', high = low] = entry.split('-')
  return low <= code && code <= high
}

/** Deny wins; no allow list allows all; an unknown value is in no list. */
function isAllowed({ allow, deny }: Rules, value: string | null): boolean {
  const isIn = (list: readonly string[]) =>
    value !== null && list.some((entry) => isInRange(entry, value))
  if (deny !== null && isIn(deny)) return false
  return allow === null || isIn(allow)
}

/** Only purchases spend; verifications, balance inquiries and credits don't. */
const spends = ({ op, charge }: CardRequest): Micros =>
  op === 'credit' || paysNothing(op) ? 0n : (charge.micros ?? 0n)

const paysNothing = (op: CardRequest['op']): boolean => op === 'verify' || op === 'balance'

export type CheckInput = {
  scope: Scope
  card: Card
  request: CardRequest
  /** The open authorization that an increment adds to. */
  incremented: Row | null
  challenge: Challenge | null
}

export function findFailedRules(situation: CheckInput): string[] {
  const failed = [
    ...stateFailures(situation),
    ...entryFailures(situation),
    ...ruleFailures(situation),
    ...moneyFailures(situation),
  ]
  return failed.filter((code) => code !== null)
}

type Failures = (string | null)[]

function stateFailures({ scope, card, request }: CheckInput): Failures {
  const { programme, account } = scope
  return [
    account.early_reversals.has(request.message) ? 'reversed_before_auth' : null,
    programme.killed.has('authorizations') ? 'programme_paused' : null,
    card.is_used ? 'card_used' : null,
    card.status === 'cancelled' ? 'card_cancelled' : null,
    account.is_suspended ? 'account_suspended' : null,
    card.status === 'frozen' ? 'card_frozen' : null,
    isExpired(card, programme.now) ? 'card_expired' : null,
  ]
}

/** Chip payments go on when the attempts are used up. */
function entryFailures({ scope, card, request }: CheckInput): Failures {
  const { now } = scope.programme
  const isBlocked = GUESSABLE.has(request.entry_mode) && areAttemptsUsedUp(card, now)
  return [
    request.expiry === 'wrong' && !isBlocked ? 'expiry_mismatch' : null,
    codeResult(request, card, now) === false ? 'cvv_mismatch' : null,
    isBlocked ? 'verification_attempts_exceeded' : null,
    request.has_pin ? 'pin_not_supported' : null,
    request.is_type_unsupported ? 'transaction_type_not_allowed' : null,
    amountFailure(request),
  ]
}

function amountFailure({ op, charge }: CardRequest): string | null {
  if (paysNothing(op)) return null
  const { minor, currency, micros } = charge
  if (currency === null || micros === null) return 'currency_not_supported'
  return minor === 0n || micros === 0n ? 'invalid_amount' : null
}

function ruleFailures({ scope, card, request, incremented }: CheckInput): Failures {
  const { mcc, country } = request.merchant
  const blocked = scope.programme.blocked_countries
  const amount = spends(request)
  const limits = limitsOf(card, scope)
  const spent = spentOn(card.usage, scope.programme.now)
  const total = amount + (incremented === null ? 0n : incremented.captured + incremented.open)
  const isCountryOpen = isAllowed(card.geo, country) && !(country && blocked.includes(country))
  return [
    isCountryOpen ? null : 'country_blocked',
    isAllowed(card.mcc, mcc) ? null : 'mcc_blocked',
    card.lock === null || isSame(card.lock, request.merchant) ? null : 'merchant_blocked',
    total > limits.per_transaction ? 'limit_per_transaction' : null,
    amount > 0n && spent.daily + amount > limits.daily ? 'limit_daily' : null,
    amount > 0n && spent.monthly + amount > limits.monthly ? 'limit_monthly' : null,
  ]
}

/** While the account owes something, nothing can be spent. */
function moneyFailures({ scope, card, request, challenge }: CheckInput): Failures {
  const amount = spends(request)
  const isCovered = amount <= card.balance && scope.account.owed === 0n
  return [
    challenge === null ? null : challengeFailure(challenge),
    amount === 0n || isCovered ? null : 'insufficient_funds',
  ]
}

function challengeFailure({ status }: Challenge): string | null {
  if (status === 'approved') return null
  return status === 'declined' ? 'three_ds_failed' : 'three_ds_timeout'
}

/** By ID where both have one, otherwise by name. */
const isSame = (one: MerchantLock, other: MerchantLock): boolean =>
  one.id !== null && other.id !== null ? one.id === other.id : one.name === other.name

/**
 * An approved challenge serves one authorization of the same card, merchant and currency, up to its
 * amount, within 24 hours of the approval. Any other message is decided as if it named none.
 */
export function challengeFor(
  { programme, account }: Scope,
  request: CardRequest,
): Challenge | null {
  const { card, charge, merchant } = request
  const challenge = account.challenges.get(request.challenge ?? '')
  if (challenge === undefined || challenge.card !== card) return null
  if (challenge.status !== 'approved') return challenge
  const isFitting =
    !challenge.is_used &&
    isSame(challenge.merchant, merchant) &&
    programme.now - challenge.decided_at <= DAY_MS &&
    challenge.charge.currency === charge.currency &&
    challenge.charge.minor >= charge.minor
  return isFitting ? challenge : null
}
