import type { PlantedBug } from './planted_bug.ts'

const posting = {
  file: 'src/domain/ledger/post.ts',
  tests: ['src/domain/ledger/post.test.ts'],
}
const store = {
  file: 'src/domain/ledger/ledger_store.ts',
  tests: ['src/domain/ledger/post.test.ts'],
}
const one_statement = {
  file: 'src/domain/ledger/move.ts',
  tests: ['src/domain/ledger/post.test.ts'],
}
const debt = {
  file: 'src/domain/ledger/debt.ts',
  tests: ['src/domain/ledger/debt.test.ts'],
}

/** Both sides of a posting, in both ways to post: one statement, or locked rows. */
export const ledger: readonly PlantedBug[] = [
  {
    ...posting,
    name: 'posting_wrong_sign',
    find: '{ by: -amount_micros, at }',
    replace: '{ by: amount_micros, at }',
    breaks: 'A posting debits the purse that the money leaves.',
  },
  {
    ...posting,
    name: 'posting_credits_nothing',
    find: 'if (to !== undefined) change(to, move.to, { by: amount_micros, at })',
    replace: 'if (to !== undefined) to.moved_at = at',
    breaks: 'A posting credits the purse that the money reaches.',
  },
  {
    ...posting,
    name: 'posting_hold_as_balance',
    find: `kind === 'hold' ? row.held_micros : row.balance_micros`,
    replace: 'row.balance_micros',
    breaks: 'A hold is separate from the balance of its card.',
  },
  {
    ...posting,
    name: 'posting_last_micro',
    find: 'inPurse(row, move.from) >= amount_micros',
    replace: 'inPurse(row, move.from) > amount_micros',
    breaks: 'A purse can be emptied to its last micro-dollar.',
  },
  {
    ...posting,
    name: 'posting_overdraft',
    find: `from.kind !== 'receivable' && !hasEnough(from)`,
    replace: `from.kind === 'card' && !hasEnough(from)`,
    breaks: 'No purse but the receivable falls below zero.',
  },
  {
    ...posting,
    name: 'posting_wrong_purse',
    find: 'assert(to.kind === rule.to,',
    replace: 'assert(to.kind !== from.kind,',
    breaks: 'A movement reaches only the kind of purse that the table names.',
  },
  {
    ...one_statement,
    name: 'statement_debits_nothing',
    find: 'then -$8::bigint else',
    replace: 'then 0 else',
    breaks: 'A movement in one statement debits the purse that the money leaves.',
  },
  {
    ...one_statement,
    name: 'statement_credits_nothing',
    find: 'or (l.kind = $6 and l.owner_id = $7))\n       and exists (select from valid)',
    replace: 'or (l.kind = $6 and l.owner_id = $5))\n       and exists (select from valid)',
    breaks: 'A movement in one statement credits the purse that the money reaches.',
  },
  {
    ...one_statement,
    name: 'statement_last_micro',
    find: 'bool_and(balance_micros >= $8::bigint)',
    replace: 'bool_and(balance_micros >= 0)',
    breaks: 'A movement in one statement is refused if the balance does not cover it.',
  },
  {
    ...one_statement,
    name: 'statement_ignores_debt',
    find: 'bool_and(balance_micros = 0) filter (where kind = $14)',
    replace: 'bool_and(balance_micros >= 0) filter (where kind = $4)',
    breaks: 'Incoming money pays a debt first, also in one statement.',
    tests: ['src/domain/ledger/debt.test.ts'],
  },
  {
    ...store,
    name: 'purse_compare_and_set',
    find: "  read: { balance_micros: ['bigint', (purse) => purse.read_micros] },\n",
    replace: '',
    breaks: 'A balance that changed after it was read is never overwritten.',
  },
  {
    ...store,
    name: 'purse_unlocked',
    find: '      order by p.account_id, p.kind, p.owner_id\n        for update of p',
    replace: '      order by p.account_id, p.kind, p.owner_id',
    breaks: 'Concurrent movements of one purse follow each other.',
  },
  {
    ...posting,
    name: 'debt_paid_from_card_balance',
    find: `payer.kind === 'card' ? cause.amount_micros : balanceOf(cause.account_id, payer)`,
    replace: 'balanceOf(cause.account_id, payer)',
    breaks: 'A card pays a debt from incoming money only, not from its balance.',
    tests: ['src/domain/ledger/debt.test.ts'],
  },
  {
    ...debt,
    name: 'debt_beside_treasury',
    find: `to.kind === 'treasury' || from.kind === 'receivable'`,
    replace: `to.kind === 'treasury'`,
    breaks: 'A new debt is paid from the treasury immediately.',
  },
  {
    ...debt,
    name: 'debt_not_paid_by_refund',
    find: `from.kind === 'hold' || from.kind === 'network'`,
    replace: `from.kind === 'hold'`,
    breaks: 'A refund to a card pays the debt of its account first.',
  },
]
