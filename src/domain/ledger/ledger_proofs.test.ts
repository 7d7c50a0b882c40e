import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { ledger_proofs } from './ledger_proofs.ts'
import { running_balances } from './running_balances.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'every balance equals its entries',
    sql: `update purses set balance_micros = balance_micros + 1000000 where kind = 'treasury'`,
    sentence: /^The treasury purse has \$\d+(\.\d+)?; its movements sum to \$\d+(\.\d+)?\.$/,
  },
  {
    proof: 'every treasury entry follows from the one before it',
    sql: `update movements set to_balance_micros = to_balance_micros + 1
           where movement = 'topup_settled'`,
    sentence: 'The treasury has $400.000001 after this movement; it should have $400.',
  },
  {
    proof: 'every movement is one of the table, between purses of its kinds',
    sql: `update movements set movement = 'card_gifted' where movement = 'card_loaded'`,
    sentence: 'card_gifted moved $150 from treasury to card, which no movement of that name does.',
  },
  {
    proof: 'only a debt is below zero',
    sql: `alter table purses drop constraint purses_check;
          insert into purses (account_id, kind, balance_micros)
          select account_id, 'receivable', 5000000 from account_sequences
              on conflict (account_id, kind, owner_id) do update set balance_micros = 5000000;
          insert into movements (account_id, id, movement, from_kind, to_kind, amount_micros,
                                 reference_type, reference_id, description, created_at,
                                 to_balance_micros)
          select account_id, 'bal_00000000000000000000000000', 'debt_paid_by_card', 'card',
                 'receivable', 5000000, 'test', '', '', now(), 5000000 from account_sequences;
          insert into purses (account_id, kind, owner_id, balance_micros)
          select account_id, 'card', '', -5000000 from account_sequences`,
    sentence: /^The (receivable purse has \$5|card purse has \$-5), held \$0\.$/,
  },
  {
    proof: 'all entries sum to zero',
    sql: `create or replace view entries as
            select account_id, id as movement_id, movement, from_kind as kind,
                   from_owner_id as owner_id, -amount_micros as amount_micros,
                   from_balance_micros as balance_micros, created_at
              from movements where from_kind <> 'operator'
            union all
            select account_id, id, movement, to_kind, to_owner_id, amount_micros,
                   to_balance_micros, created_at from movements`,
    sentence: /^All entries sum to \$\d/,
  },
]

await testBreakages([running_balances, ...ledger_proofs], breakages)
