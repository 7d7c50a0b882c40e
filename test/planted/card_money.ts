import type { PlantedBug } from './planted_bug.ts'

const money = 'src/domain/authorizations/money.ts'
const capture = 'src/domain/authorizations/capture.ts'
const transfer = 'src/domain/cards/card_transfer.ts'

/** The movements that card messages and transfers to cards post. */
export const card_money: readonly PlantedBug[] = [
  {
    name: 'spend_held_in_full',
    file: money,
    find: '  return held\n',
    replace: '  return amount\n',
    breaks: 'A hold records what was held, not what was asked for.',
    tests: ['src/domain/authorizations/advise.test.ts'],
  },
  {
    name: 'hold_released_to_treasury',
    file: money,
    find: `  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'hold_returned'`,
    replace: `  if (card.status !== 'active') {
    move(state, card, row, { movement: 'hold_returned'`,
    breaks: 'The released hold of a frozen card returns to that card.',
    tests: ['src/domain/authorizations/reverse.test.ts'],
  },
  {
    name: 'hold_returned_to_cancelled_card',
    file: money,
    find: `  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'hold_returned'`,
    replace: `  if (card.status === 'frozen') {
    move(state, card, row, { movement: 'hold_returned'`,
    breaks: 'The released hold of a cancelled card returns to the treasury.',
    tests: ['src/domain/authorizations/reverse.test.ts'],
  },
  {
    name: 'hold_captured_twice',
    file: capture,
    find: 'if (amount > from_hold) debitCard(state, card, row, amount - from_hold)',
    replace: 'if (amount > from_hold) debitCard(state, card, row, amount)',
    breaks: 'A capture above its hold debits the card only for the difference.',
    tests: ['src/domain/authorizations/capture.test.ts'],
  },
  {
    name: 'hold_kept_after_final_capture',
    file: capture,
    find: 'is_final ? 0n : authorization.open_micros - from_open',
    replace: 'authorization.open_micros - from_open',
    breaks: 'The last capture releases the rest of its hold.',
    tests: ['src/domain/authorizations/capture.test.ts'],
  },
  {
    name: 'spend_owed_twice',
    file: money,
    find: 'to: network, amount: amount - taken }',
    replace: 'to: network, amount }',
    breaks: 'Only the part that the card lacks becomes a debt.',
    tests: ['src/domain/authorizations/capture.test.ts'],
  },
  {
    name: 'spend_refunded_to_treasury',
    file: money,
    find: `  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'refund_returned'`,
    replace: `  if (card.status !== 'active') {
    move(state, card, row, { movement: 'refund_returned'`,
    breaks: 'A refund to a frozen card credits that card.',
    tests: ['src/domain/authorizations/refund.test.ts'],
  },
  {
    name: 'refund_returned_to_cancelled_card',
    file: money,
    find: `  if (card.status === 'cancelled') {
    move(state, card, row, { movement: 'refund_returned'`,
    replace: `  if (card.status === 'frozen') {
    move(state, card, row, { movement: 'refund_returned'`,
    breaks: 'A refund to a cancelled card credits the treasury.',
    tests: ['src/domain/authorizations/refund.test.ts'],
  },
  {
    name: 'refund_review_ignores_refunds',
    file: 'src/domain/authorizations/refund.ts',
    find: 'authorization.captured_micros - authorization.refunded_micros',
    replace: 'authorization.captured_micros',
    breaks: 'Refunds above the captured amount wait for an operator, also in parts.',
    tests: ['src/domain/authorizations/refund.test.ts'],
  },
  {
    name: 'refund_reversed_twice',
    file: 'src/domain/authorizations/reverse.ts',
    find: `  if (refund.status === 'reversed') return\n`,
    replace: '',
    breaks: 'A repeated reversal of a refund debits the card once.',
    tests: ['src/domain/authorizations/reverse.test.ts'],
  },
  {
    name: 'hold_of_increment_uncounted',
    file: 'src/domain/authorizations/authorize.ts',
    find: 'held_micros: authorization.held_micros + held,',
    replace: 'held_micros: held,',
    breaks: 'An increment adds to the hold of its purchase.',
    tests: ['src/domain/authorizations/increment.test.ts'],
  },
  {
    name: 'completion_reversed_in_part',
    file: 'src/domain/authorizations/batch_store.ts',
    find: `mti like '010%' as is_request`,
    replace: `mti like '01%' as is_request`,
    breaks: 'A reversal that names a completion releases the whole purchase.',
    tests: ['src/domain/authorizations/increment.test.ts'],
  },
  {
    name: 'hold_expires_early',
    file: 'src/domain/authorizations/expire_authorizations_task.ts',
    find: 't.expires_at <= $1 order by',
    replace: `t.expires_at <= $1 + interval '1 second' order by`,
    breaks: 'A hold lasts seven days to the millisecond.',
    tests: ['src/domain/authorizations/expire_authorizations_task.test.ts'],
  },
  {
    name: 'load_ignores_holds',
    file: 'src/domain/cards/load_card.ts',
    find: 'const on_card_micros = balance_micros + held_micros',
    replace: 'const on_card_micros = balance_micros',
    breaks: 'Held money counts towards the maximum balance of a card.',
    tests: ['src/domain/cards/load_card.test.ts'],
  },
  {
    name: 'unload_into_other_card',
    file: transfer,
    find: `movement: 'card_unloaded',
      account_id: card.account_id,
      from: cardPurse(card.id),`,
    replace: `movement: 'card_unloaded',
      account_id: card.account_id,
      from: cardPurse(card.replaces ?? card.id),`,
    breaks: 'An unload debits the card that it names.',
    tests: ['src/domain/cards/unload_card.test.ts', 'src/domain/cards/replace_card.test.ts'],
  },
  {
    name: 'cancel_keeps_balance',
    file: 'src/domain/cards/cancel_locked_card.ts',
    find: 'if (balance_micros > 0n) await transferFromCard(context, card, balance_micros)',
    replace: 'if (balance_micros < 0n) await transferFromCard(context, card, balance_micros)',
    breaks: 'The balance of a cancelled card returns to the treasury.',
    tests: ['src/domain/cards/cancel_card.test.ts'],
  },
  {
    name: 'replacement_without_usage',
    file: 'src/domain/cards/replace_card.ts',
    find: '  await copySpending(tx, { account_id, from: old.id, to: card.id })\n',
    replace: '',
    breaks: 'A replacement starts with the spending of the card that it replaces.',
    tests: ['src/domain/cards/replace_card.test.ts', 'test/stories/replaced_limits.long.test.ts'],
  },
  {
    name: 'replacement_without_limits',
    file: 'src/domain/cards/replace_card.ts',
    find: 'daily_micros: old.daily_micros,',
    replace: 'daily_micros: null,',
    breaks: 'A replacement keeps the limits of the card that it replaces.',
    tests: ['src/domain/cards/replace_card.test.ts'],
  },
  {
    name: 'dispute_lost_after_refund',
    file: 'src/domain/disputes/dispute_money.ts',
    find: 'reverseCredit(posting, dispute, creditOf(dispute))',
    replace: 'reverseCredit(posting, dispute, dispute.amount_micros)',
    breaks: 'A lost dispute takes back only the credit that is left.',
    tests: ['test/stories/money_back.long.test.ts'],
  },
  {
    name: 'dispute_shortfall_forgotten',
    file: 'src/domain/disputes/dispute_money.ts',
    find: `from: receivable, to: operator, amount_micros: added_micros },`,
    replace: `from: receivable, to: operator, amount_micros: 0n },`,
    breaks: 'The spent part of a lost credit becomes a debt.',
    tests: ['test/stories/disputes.long.test.ts', 'test/stories/money_back.long.test.ts'],
  },
  {
    name: 'dispute_and_refund_both_pay',
    file: 'src/domain/disputes/refund_overlap.ts',
    find: 'capture.refunded_micros + credits - capture.captured_micros',
    replace: 'credits - capture.captured_micros',
    breaks: 'Refunds and dispute credits together never exceed the captured amount.',
    tests: ['test/stories/money_back.long.test.ts'],
  },
]
