import type { DeclineCode } from '#contract/decline.ts'
import { countryIsAllowed, mccIsAllowed } from '#domain/cards/controls.ts'
import { isOpenToMerchant } from '#domain/cards/merchant_lock.ts'
import type { Micros } from '#kernel/money.ts'
import { type CardState, type ChallengeState, expiryOf } from './card_state.ts'
import type { CardRequest, Entry } from './request.ts'

export type CheckInput = {
  request: CardRequest
  card: CardState
  now: Date
  is_paused: boolean
  /** The reversal arrived before the message. */
  is_reversed: boolean
  /** The challenge that counts for this message; see three_ds.ts. */
  challenge: ChallengeState | null
  /** For an increment: the purchase's amount without it. */
  incremented: Micros
  /** The card's available balance and the account's debt. */
  available: Micros
  owed: Micros
}

type Check = (input: CheckInput) => DeclineCode | null

/** The last time zone is twelve hours behind UTC. */
const LAST_ZONE_HOURS = 12
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Three digits can be guessed in a thousand attempts; five a day make that useless. */
const WRONG_ATTEMPTS_MAX = 5

/**
 * The checks in order; the first objection is the response. Rules come before funds, so a blocked
 * merchant learns nothing about the balance.
 */
const checks: readonly Check[] = [
  ({ is_reversed }) => (is_reversed ? 'reversed_before_auth' : null),
  ({ is_paused }) => (is_paused ? 'programme_paused' : null),
  ({ card }) => (card.cancel_reason === 'used' ? 'card_used' : null),
  ({ card }) => (card.status === 'cancelled' ? 'card_cancelled' : null),
  ({ card }) => (card.is_suspended ? 'account_suspended' : null),
  ({ card }) => (card.status === 'frozen' ? 'card_frozen' : null),
  ({ card, now }) => (isExpired(card, now) || isPastValidity(card, now) ? 'card_expired' : null),
  checkExpiry,
  checkCvv,
  checkAttempts,
  ({ request }) => (request.has_pin ? 'pin_not_supported' : null),
  ({ request }) => (request.is_type_supported ? null : 'transaction_type_not_allowed'),
  checkAmount,
  countryIsOpen,
  categoryIsOpen,
  merchantIsOpen,
  ({ request, card, incremented }) =>
    spends(request) + incremented > card.limits.per_transaction ? perTransaction : null,
  ({ request, card }) => within(request, card.spent.daily, card.limits.daily, 'limit_daily'),
  ({ request, card }) => within(request, card.spent.monthly, card.limits.monthly, 'limit_monthly'),
  checkChallenge,
  checkFunds,
]

const perTransaction = 'limit_per_transaction'

/** All objections in order. None means approved. */
export function findObjections(input: CheckInput): DeclineCode[] {
  const objections: DeclineCode[] = []
  for (const check of checks) {
    const objection = check(input)
    if (objection !== null) objections.push(objection)
  }
  return objections
}

/** A card is valid to the end of its month in every time zone. */
export function isExpired(
  { exp_year, exp_month }: Pick<CardState, 'exp_year' | 'exp_month'>,
  now: Date,
): boolean {
  return now.getTime() >= Date.UTC(exp_year, exp_month, 1) + LAST_ZONE_HOURS * HOUR_MS
}

/** A card with its own date is still valid in that millisecond. */
const isPastValidity = ({ valid_until }: CardState, now: Date): boolean =>
  valid_until !== null && now > valid_until

/** Entry modes without the card present, where CVV and expiry can be guessed. */
const GUESSABLE: ReadonlySet<Entry['entry_mode']> = new Set([
  'keyed',
  'ecommerce',
  'credential_on_file',
])

function checkExpiry({ request, card, now }: CheckInput): DeclineCode | null {
  if (request.expiry === null || isBlockedByAttempts({ request, card, now })) return null
  return request.expiry === expiryOf(card) ? null : 'expiry_mismatch'
}

/** After too many failures no CVV is evaluated, in any entry mode. */
function checkCvv({ request, card, now }: CheckInput): DeclineCode | null {
  if (request.isCodeRight === null || attemptsAreUsedUp(card, now)) return null
  return request.isCodeRight(card) ? null : 'cvv_mismatch'
}

function recentFailures({ failed_at }: Pick<CardState, 'failed_at'>, now: Date): Date[] {
  if (failed_at.length === 0) return failed_at
  return failed_at.filter((at) => now.getTime() - at.getTime() < DAY_MS)
}

export function attemptsAreUsedUp(card: Pick<CardState, 'failed_at'>, now: Date): boolean {
  return recentFailures(card, now).length >= WRONG_ATTEMPTS_MAX
}

/** Adds a failure. Only the last five matter. */
export function withFailure(card: Pick<CardState, 'failed_at'>, now: Date): Date[] {
  return [...recentFailures(card, now), now].slice(-WRONG_ATTEMPTS_MAX)
}

type AttemptInput = Pick<CheckInput, 'request' | 'card' | 'now'>

const isBlockedByAttempts = ({ request, card, now }: AttemptInput): boolean =>
  request.entry !== null && GUESSABLE.has(request.entry.entry_mode) && attemptsAreUsedUp(card, now)

function checkAttempts(input: CheckInput): DeclineCode | null {
  return isBlockedByAttempts(input) ? 'verification_attempts_exceeded' : null
}

/** An amount in these is not paid, so neither it nor its currency matters. */
const PAYS_NOTHING: ReadonlySet<CardRequest['kind']> = new Set(['verify', 'balance'])

function checkAmount({ request }: CheckInput): DeclineCode | null {
  if (PAYS_NOTHING.has(request.kind)) return null
  const { currency, micros, minor } = request.charge
  if (currency === null || micros === null) return 'currency_not_supported'
  return minor === 0n || micros === 0n ? 'invalid_amount' : null
}

function countryIsOpen({ request, card }: CheckInput): DeclineCode | null {
  const rules = { allow: card.geo_allow, deny: card.geo_deny }
  return countryIsAllowed(rules, request.merchant.merchant_country) ? null : 'country_blocked'
}

function categoryIsOpen({ request, card }: CheckInput): DeclineCode | null {
  const rules = { allow: card.mcc_allow, deny: card.mcc_deny }
  return mccIsAllowed(rules, request.merchant.mcc) ? null : 'mcc_blocked'
}

function merchantIsOpen({ request, card }: CheckInput): DeclineCode | null {
  return isOpenToMerchant(card, request.merchant) ? null : 'merchant_blocked'
}

function spends({ kind, charge }: CardRequest): Micros {
  return kind === 'credit' || PAYS_NOTHING.has(kind) ? 0n : (charge.micros ?? 0n)
}

function within(request: CardRequest, spent: Micros, limit: Micros, code: DeclineCode) {
  const amount = spends(request)
  return amount > 0n && spent + amount > limit ? code : null
}

/** The challenge ended before this message was sent, so nothing waits here. */
function checkChallenge({ challenge }: CheckInput): DeclineCode | null {
  if (challenge === null || challenge.status === 'approved') return null
  return challenge.status === 'declined' ? 'three_ds_failed' : 'three_ds_timeout'
}

/** An account with a debt cannot spend: incoming money pays the debt first. */
function checkFunds({ request, available, owed }: CheckInput): DeclineCode | null {
  const amount = spends(request)
  return amount > 0n && (amount > available || owed > 0n) ? 'insufficient_funds' : null
}
