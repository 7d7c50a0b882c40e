import type { PlantedBug } from './planted_bug.ts'

const checks = 'src/domain/authorizations/checks.ts'
const use = 'src/domain/authorizations/use_card.ts'
const batch = 'src/domain/authorizations/batch.ts'
const merchants = 'src/domain/cards/merchant_lock.ts'
const usage = 'src/domain/cards/card_usage.ts'

const in_memory = ['src/domain/authorizations/use_card.test.ts']
const in_database = ['src/domain/authorizations/single_use.test.ts']
const of_checks = ['src/domain/authorizations/checks.test.ts']

/** Cards for one purchase, for one merchant, and until a date. */
export const card_usage: readonly PlantedBug[] = [
  {
    name: 'second_use_in_a_batch',
    file: use,
    find: `  card.status = 'cancelled'\n  card.cancel_reason = 'used'\n`,
    replace: '',
    breaks: 'Of two purchases in one batch, a single-use card makes one.',
    tests: in_memory,
  },
  {
    name: 'second_use_in_another_batch',
    file: batch,
    find: '  ...used_cards.map(writeUsedCard),\n',
    replace: '',
    breaks: 'A single-use card is cancelled in the transaction of its purchase.',
    tests: in_database,
  },
  {
    name: 'used_by_nothing',
    file: use,
    find: 'if (amount_micros > 0n) cancelUsedCard',
    replace: 'if (amount_micros >= 0n) cancelUsedCard',
    breaks: 'An account verification does not use a single-use card.',
    tests: in_memory,
  },
  {
    name: 'used_card_keeps_money',
    file: use,
    find: '  unloadRest(state, card)\n',
    replace: '',
    breaks: 'The rest of a used card returns to the balance.',
    tests: in_memory,
  },
  {
    name: 'used_card_called_cancelled',
    file: checks,
    find: `  ({ card }) => (card.cancel_reason === 'used' ? 'card_used' : null),\n`,
    replace: '',
    breaks: 'A used single-use card declines with card_used.',
    tests: of_checks,
  },
  {
    name: 'use_without_audit_entry',
    file: batch,
    find: 'auditSetWrites(audit_chains, usedCardEntries(state)',
    replace: 'auditSetWrites(audit_chains, usedCardEntries(state).slice(1)',
    breaks: 'The cancellation of a used card has its audit entry.',
    tests: in_database,
  },
  {
    name: 'treasury_unlocked_for_use',
    file: 'src/domain/authorizations/new_batch_state.ts',
    find: 'isAdvice(kind) || canBeUsedUp(card)',
    replace: 'isAdvice(kind)',
    breaks: 'The purchase of a single-use card locks the purses that it moves money between.',
    tests: in_database,
  },
  {
    name: 'lock_not_stored',
    file: batch,
    find: '  ...locked_cards.map((card) => writeMerchantLock(card, now)),\n',
    replace: '',
    breaks: 'The lock of a card is stored with its first approval.',
    tests: in_database,
  },
  {
    name: 'lock_not_set',
    file: use,
    find: '  card.merchant_lock_name = merchant_name\n',
    replace: '',
    breaks: 'The first approval locks the card for the messages after it.',
    tests: in_memory,
  },
  {
    name: 'lock_unchecked',
    file: checks,
    find: '  merchantIsOpen,\n',
    replace: '',
    breaks: 'A locked card declines at other merchants.',
    tests: of_checks,
  },
  {
    name: 'lock_by_name_only',
    file: merchants,
    find: 'if (one.merchant_id !== null && other.merchant_id !== null) {',
    replace: 'if (one.merchant_id !== null && one.merchant_id === other.merchant_id) {',
    breaks: 'A merchant of the same name and another ID is another merchant.',
    tests: of_checks,
  },
  {
    name: 'lock_by_id_only',
    file: merchants,
    find: 'if (one.merchant_id !== null && other.merchant_id !== null) {',
    replace: 'if (one.merchant_id !== null) {',
    breaks: 'A merchant without an ID is known by its name.',
    tests: of_checks,
  },
  {
    name: 'lock_by_exact_name',
    file: merchants,
    find: `.trim().replace(/\\s+/g, ' ').toLowerCase()`,
    replace: '.trim()',
    breaks: 'The name of a merchant is compared without case and spaces.',
    tests: of_checks,
  },
  {
    name: 'valid_until_excluded',
    file: checks,
    find: 'valid_until !== null && now > valid_until',
    replace: 'valid_until !== null && now >= valid_until',
    breaks: 'A card is still valid at its valid_until.',
    tests: of_checks,
  },
  {
    name: 'valid_until_unchecked',
    file: checks,
    find: 'isExpired(card, now) || isPastValidity(card, now)',
    replace: 'isExpired(card, now)',
    breaks: 'A card declines after its valid_until.',
    tests: of_checks,
  },
  {
    name: 'replacement_unlocked',
    file: usage,
    find: `  merchant_lock_name: card.merchant_lock_name,
  merchant_lock_id: card.merchant_lock_id,`,
    replace: '  merchant_lock_name: null,\n  merchant_lock_id: null,',
    breaks: 'A replacement keeps the lock of its card.',
    tests: ['src/domain/cards/replace_card.test.ts'],
  },
  {
    name: 'replacement_reusable',
    file: usage,
    find: '  usage: card.usage,',
    replace: `  usage: card.usage === 'single_use' ? 'reusable' : card.usage,`,
    breaks: 'The replacement of an unused single-use card makes one purchase too.',
    tests: ['src/domain/cards/replace_card.test.ts'],
  },
]
