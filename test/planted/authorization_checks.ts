import type { PlantedBug } from './planted_bug.ts'

const file = 'src/domain/authorizations/checks.ts'
const tests = ['src/domain/authorizations/checks.test.ts']

/** At least one bug in every check of an authorization. */
export const authorization_checks: readonly PlantedBug[] = [
  {
    name: 'check_reversed',
    find: `({ is_reversed }) => (is_reversed ? 'reversed_before_auth' : null),`,
    replace: '',
    breaks: 'A purchase whose reversal arrived first is declined.',
  },
  {
    name: 'check_paused',
    find: `({ is_paused }) => (is_paused ? 'programme_paused' : null),`,
    replace: '',
    breaks: 'No purchase is approved while authorizations are switched off.',
  },
  {
    name: 'check_cancelled',
    find: `card.status === 'cancelled'`,
    replace: `card.status !== 'active'`,
    breaks: 'Only a cancelled card is declined as cancelled.',
  },
  {
    name: 'check_suspended',
    find: `({ card }) => (card.is_suspended ? 'account_suspended' : null),`,
    replace: '',
    breaks: 'A suspended account cannot spend.',
  },
  {
    name: 'check_frozen',
    find: `({ card }) => (card.status === 'frozen' ? 'card_frozen' : null),`,
    replace: '',
    breaks: 'A frozen card cannot spend.',
  },
  {
    name: 'check_expired_month',
    find: 'Date.UTC(exp_year, exp_month, 1)',
    replace: 'Date.UTC(exp_year, exp_month - 1, 1)',
    breaks: 'A card is valid to the end of its month.',
  },
  {
    name: 'check_expired_instant',
    find: 'now.getTime() >= Date.UTC',
    replace: 'now.getTime() > Date.UTC',
    breaks: 'A card ends with the last instant of its month.',
  },
  {
    name: 'check_expiry_date',
    find: 'request.expiry === null || isBlockedByAttempts({ request, card, now })',
    replace: 'request.expiry === null || attemptsAreUsedUp(card, now)',
    breaks: 'A card that is present with a wrong expiry date is declined, whatever came before.',
  },
  {
    name: 'check_cvv_by_swipe',
    find: 'request.isCodeRight === null || attemptsAreUsedUp(card, now)',
    replace: 'request.isCodeRight === null || isBlockedByAttempts({ request, card, now })',
    breaks: 'After five failures no CVV is evaluated in any entry mode.',
  },
  {
    name: 'check_cvv_ignored',
    find: `return request.isCodeRight(card) ? null : 'cvv_mismatch'`,
    replace: `return request.isCodeRight(card) ? 'cvv_mismatch' : null`,
    breaks: 'A wrong CVV is declined.',
  },
  {
    name: 'check_attempts',
    find: '.length >= WRONG_ATTEMPTS_MAX',
    replace: '.length > WRONG_ATTEMPTS_MAX',
    breaks: 'The fifth failure blocks entry by number.',
  },
  {
    name: 'check_attempts_day',
    find: 'at.getTime() < DAY_MS',
    replace: 'at.getTime() <= DAY_MS',
    breaks: 'A failure counts for one day, not longer.',
  },
  {
    name: 'check_pin',
    find: `({ request }) => (request.has_pin ? 'pin_not_supported' : null),`,
    replace: '',
    breaks: 'A purchase with a PIN is declined, because no PIN is verified.',
  },
  {
    name: 'check_type',
    find: `({ request }) => (request.is_type_supported ? null : 'transaction_type_not_allowed'),`,
    replace: '',
    breaks: 'A transaction type that the program does not offer is declined.',
  },
  {
    name: 'check_amount',
    find: 'minor === 0n || micros === 0n',
    replace: 'minor === 0n',
    breaks: 'A purchase that converts to nothing is declined.',
  },
  {
    name: 'check_currency',
    find: 'currency === null || micros === null',
    replace: 'currency === null',
    breaks: 'A purchase without a USD amount is declined.',
  },
  {
    name: 'check_country',
    find: 'allow: card.geo_allow, deny: card.geo_deny',
    replace: 'allow: card.geo_allow, deny: null',
    breaks: 'A denied country is declined.',
  },
  {
    name: 'check_category',
    find: 'allow: card.mcc_allow, deny: card.mcc_deny',
    replace: 'allow: null, deny: card.mcc_deny',
    breaks: 'Only allowed merchant categories are approved.',
  },
  {
    name: 'check_per_transaction',
    find: 'spends(request) + incremented >',
    replace: 'spends(request) >',
    breaks: 'The per-transaction limit covers a purchase with its increments.',
  },
  {
    name: 'check_daily',
    find: 'amount > 0n && spent + amount > limit',
    replace: 'amount > 0n && spent + amount >= limit',
    breaks: 'A limit can be spent to its last micro-dollar.',
  },
  {
    name: 'check_monthly',
    find: 'card.spent.monthly, card.limits.monthly',
    replace: 'card.spent.daily, card.limits.monthly',
    breaks: 'The monthly limit counts the spending of the month.',
  },
  {
    name: 'check_three_ds',
    find: `challenge === null || challenge.status === 'approved'`,
    replace: `challenge === null || challenge.status !== 'declined'`,
    breaks: 'A purchase whose challenge nobody answered is declined.',
  },
  {
    name: 'check_funds',
    find: 'amount > available || owed > 0n',
    replace: 'amount > available && owed > 0n',
    breaks: 'A purchase above the available balance is declined.',
  },
  {
    name: 'check_funds_with_debt',
    find: '(amount > available || owed > 0n)',
    replace: 'amount > available',
    breaks: 'An account with a debt cannot spend.',
  },
  {
    name: 'check_credit_spends',
    find: `kind === 'credit' || PAYS_NOTHING`,
    replace: 'PAYS_NOTHING',
    breaks: 'A credit counts against no limit.',
  },
  {
    name: 'check_balance_spends',
    find: `kind === 'credit' || PAYS_NOTHING.has(kind) ?`,
    replace: `kind === 'credit' ?`,
    breaks: 'The amount of a balance inquiry counts against no limit.',
  },
].map((bug) => ({ file, tests, ...bug }))
