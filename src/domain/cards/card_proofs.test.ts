import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { card_proofs } from './card_proofs.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'each card has one event of its issue',
    sql: `insert into cards (account_id, id, bin, last4, brand, type, pan_sealed, pan_hash,
                             exp_month, exp_year, wallet, created_at, updated_at)
          select account_id, 'card_' || id_time(created_at) || '0000000000000000', bin, last4,
                 brand, type, '', 'another', exp_month, exp_year, wallet, created_at, updated_at
            from cards order by id limit 1`,
    sentence: 'The card has 0 events of its issue instead of 1.',
  },
  {
    proof: 'each frozen card has an event of that change, and each cancelled card one',
    sql: `update events set id = 'evt_00' || substr(id, 7)
           where type = 'card.frozen'
             and card_id in (select id from cards where status = 'frozen')`,
    sentence: 'The card is frozen, with 0 events of that change.',
  },
  {
    proof: "each card event has its card, whose status follows from the card's events",
    sql: `update cards set status = 'active', frozen_at = null, frozen_by = null
           where status = 'frozen'`,
    sentence: 'The card is active, which does not follow from its events.',
  },
  {
    proof: "a card's status has the timestamps of its path",
    sql: `update cards set frozen_by = null where status = 'frozen'`,
    sentence: 'The card is frozen, but its timestamps say otherwise.',
  },
]

await testBreakages(card_proofs, breakages)
