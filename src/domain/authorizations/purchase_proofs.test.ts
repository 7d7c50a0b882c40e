import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { hold_proofs } from './hold_proofs.ts'
import { purchase_proofs } from './purchase_proofs.ts'
import { attempt_proofs, spending_proofs } from './spending_proofs.ts'

const REFUNDED_AUTHORIZATION = `type = 'authorization' and refunded_micros > 0`

/** A pending clearing or challenge on the account's first card. */
const onFirstCard = (table: string, columns: string, values: string) => `
  insert into ${table} (account_id, card_id, ${columns})
  select account_id, id, ${values} from cards order by id limit 1`

const DAY = String.raw`\d{4}-\d\d-\d\d`
const COUNTED = String.raw`; its transactions count \$42 to \$42\.$`

const breakages: readonly Breakage[] = [
  {
    proof: 'each transaction has one event of its creation',
    sql: `update events set resource_id = (
                   select id from transactions where type = 'capture' and amount_micros = 20000000)
           where type = 'transaction.captured' and amount_micros = 12000000`,
    sentence: /^The capture has [02] events of its creation instead of 1\.$/,
  },
  {
    proof: 'each transaction event has its transaction, in a state that the event leads to',
    sql: `insert into events (account_id, id, type, activity_type, severity, message, card_id,
                              resource_type, resource_id, created_at)
          select account_id, 'evt_00' || substr(id, 7), 'transaction.captured', 'spend', 'info', '',
                 card_id, 'transaction', id, created_at
            from transactions where type = 'decline' limit 1`,
    sentence: 'There is an event transaction.captured; the decline is declined.',
  },
  {
    proof: 'each change of an authorization has one event, capture or refund',
    sql: `update events set id = 'evt_00' || substr(id, 7) where type = 'transaction.expired'`,
    sentence: 'The authorization changed 2 times, with 1 events, captures and refunds.',
  },
  {
    proof: 'each reversed refund has one event of its reversal',
    sql: `insert into events (account_id, id, type, activity_type, severity, message, card_id,
                              resource_type, resource_id, created_at)
          select account_id, 'evt_' || substr(id, 5), 'transaction.refund_reversed', 'spend',
                 'info', '', card_id, 'transaction', id, created_at
            from transactions where type = 'refund';
          update transactions set status = 'reversed' where type = 'refund';
          insert into events (account_id, id, type, activity_type, severity, message, card_id,
                              resource_type, resource_id, created_at)
          select account_id, 'evt_' || substr(id, 5) || '0',
                 'transaction.refund_reversed', 'spend', 'info', '', card_id, 'transaction', id,
                 created_at
            from transactions where type = 'refund';
          update transactions set refunded_micros = 0, version = version + 1
           where refunded_micros > 0`,
    sentence: 'The refund is reversed, with 2 events of a reversal.',
  },
  {
    proof: 'each transaction has a status that its type and amounts allow',
    sql: `update transactions set status = 'expired' where type = 'authorization'
             and status = 'captured' and amount_micros = 12000000`,
    sentence: 'The authorization is expired, with $0 open, $12 captured and $0 refunded.',
  },
  {
    proof: 'what an authorization captured is the sum of its captures',
    sql: `update transactions set captured_micros = captured_micros + 1,
                 counted_day = created_at::date - 40, counted_day_micros = 0,
                 counted_month_micros = 0
           where ${REFUNDED_AUTHORIZATION};
          update purses set day_spent_micros = day_spent_micros - 20000000,
                            month_spent_micros = month_spent_micros - 20000000
           where day_spent_micros > 20000000`,
    sentence: 'The authorization captured $20.000001; its captures sum to $20.',
  },
  {
    proof: 'what was refunded is the sum of the refunds',
    sql: `update transactions set refunded_micros = refunded_micros - 1000000
           where ${REFUNDED_AUTHORIZATION}`,
    sentence: 'The authorization shows $4 refunded; its refunds sum to $5.',
  },
  {
    proof: 'each capture and refund moves its amount to or from the network, once',
    sql: `update movements set reference_id = (
                   select id from transactions where type = 'capture' and amount_micros = 20000000)
           where movement = 'hold_captured' and amount_micros = 12000000`,
    sentence: /^The capture is for \$(20; \$32|12; \$0) was moved\.$/,
  },
  {
    proof: 'each movement of a card payment has its transaction',
    sql: `update movements set reference_id = 'txn_missing' where movement = 'spend_held'
             and amount_micros = 10000000`,
    sentence: 'spend_held moved $10 for txn_missing, which is missing.',
  },
  {
    proof: "every card's hold purse equals what its authorizations hold",
    sql: 'update transactions set held_micros = held_micros - 1 where held_micros > 0',
    sentence: 'The hold purse has $10; the authorizations of the card hold $9.999999.',
  },
  {
    proof: "no authorization expires before its card's purse says",
    sql: 'update purses set holds_expire_at = null where holds_expire_at is not null',
    sentence: /^An authorization expires at \d{4}-.*; the purse has none\.$/,
  },
  {
    proof: 'no hold is kept for more than an hour after it expired',
    sql: `with late as (
            update transactions set expires_at = now() - interval '2 hours'
             where open_micros > 0 returning card_id, expires_at)
          update purses set holds_expire_at = late.expires_at
            from late where owner_id = late.card_id`,
    sentence: /^The hold expired at \d{4}-.* and still holds \$10\.$/,
  },
  {
    proof: 'no 3-D Secure challenge is pending after it expired',
    sql: onFirstCard(
      'three_ds_challenges',
      `id, amount_minor, currency, amount_micros, merchant_name, mcc, response_hash, body,
       created_at, expires_at`,
      `'chg_1', 1, 'USD', 1, '', '', '', '', now(), now() - interval '11 minutes'`,
    ),
    sentence: /^The challenge expired at \d{4}-.* and is still pending\.$/,
  },
  {
    proof: 'no clearing or refund waits for a person for more than 7 days',
    sql: onFirstCard(
      'pending_clearings',
      'id, kind, amount_minor, currency, merchant_name, request, message_identity, created_at',
      `'txn_' || id_time(now() - interval '8 days') || '0', 'capture', 1, 'XTS', '',
       '{}', 'none', now() - interval '8 days'`,
    ),
    sentence: /^The capture of an unknown merchant has waited for its USD amount since \d{4}-/,
  },
  {
    proof: "a card's spending of the day is what its transactions of that day counted",
    sql: `update purses set day_spent_micros = day_spent_micros + 1
           where day_spent_micros > 20000000`,
    sentence: new RegExp(String.raw`^The card counts \$42\.000001 for ${DAY}` + COUNTED),
  },
  {
    proof: "a card's spending of the month is what its transactions of that month counted",
    sql: `update purses set month_spent_micros = month_spent_micros - 1
           where day_spent_micros > 20000000`,
    sentence: new RegExp(
      String.raw`^The card counts \$41\.999999 for the month of ${DAY}` + COUNTED,
    ),
  },
  {
    proof: "a card's failed attempts are its declines for a wrong code or date",
    sql: `update cards set failed_at = failed_at || failed_at`,
    sentence: 'The card counts 2 failed attempts; 1 declines of that day say so.',
  },
]

await testBreakages(
  [...purchase_proofs, ...hold_proofs, ...spending_proofs, ...attempt_proofs],
  breakages,
)
