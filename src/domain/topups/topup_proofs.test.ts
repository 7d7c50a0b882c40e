import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { topup_proofs } from './topup_proofs.ts'

const EXPIRED = `status_reason = 'expired'`

const insertMovement = (n: string, name: string, from: string, to: string) => `
  insert into movements (account_id, id, movement, from_kind, to_kind, amount_micros,
                         reference_type, reference_id, description, created_at)
  select account_id, 'bal_' || id_time(now()) || '${n}', '${name}', '${from}', '${to}', 500000,
         'topup', 'tup_other', '', now()
    from account_sequences`

const breakages: readonly Breakage[] = [
  {
    proof: 'the amounts of a top-up are the sums of its transfers',
    sql: `update topups set credited_micros = credited_micros - 1 where status = 'completed'`,
    sentence:
      'The top-up shows $400 received and $399.999999 credited; ' +
      'its transfers sum to $400 and $400.',
  },
  {
    proof: 'each top-up has one event of its creation, its expiry and each deposit',
    sql: `update events set type = 'topup.error' where type = 'topup.expired'`,
    sentence:
      'The top-up has 1 events of its creation, 0 of 1 expiries, 0 of 0 credits and 1 of 0 holds.',
  },
  {
    proof: 'each top-up event has its top-up',
    sql: `insert into events (account_id, id, type, activity_type, severity, message, resource_type,
                              resource_id, created_at)
          select account_id, 'evt_' || substr(id, 5), 'topup.error', 'topup', 'error', '', 'topup',
                 'tup_missing', created_at
            from topups where ${EXPIRED}`,
    sentence: 'There is an event topup.error, but no such top-up.',
  },
  {
    proof: 'a top-up has the status that its transfers and timestamps lead to',
    sql: `update topups set status = 'awaiting', resting_status = 'awaiting' where ${EXPIRED}`,
    sentence: 'The top-up is awaiting (awaiting at rest), with $0 credited and $0 pending.',
  },
  {
    proof: 'each final transfer has exactly one movement of its amount',
    sql: `update movements set reference_id = 'tup_other' where movement = 'topup_settled'`,
    sentence: /^The transfer [0-9a-fx]+ of \$400 has no such movement\.$/,
  },
  {
    proof: 'each movement from a chain has exactly one final transfer',
    sql: `${insertMovement('1', 'topup_suspended', 'chain', 'suspense')};
          ${insertMovement('2', 'suspense_refunded', 'suspense', 'chain')}`,
    sentence: '$0.5 was credited from a chain without a transfer.',
  },
  {
    proof: 'each held deposit leaves suspense once, by the movement of its end',
    sql: `update chain_transfers set state = 'refunded', resolution_movement_id = 'bal_none'
           where state = 'held';
          ${insertMovement('1', 'suspense_refunded', 'suspense', 'chain')}`,
    sentence: 'The deposit is refunded, without the movement of its end.',
  },
  {
    proof: 'no top-up stays open for more than an hour after it expired',
    sql: `update topups set expires_at = now() - interval '3 hours' where status = 'awaiting'`,
    sentence: /^The top-up expired at \d{4}-.* and is still awaiting\.$/,
  },
  {
    proof: 'no deposit stays unconfirmed for more than a day',
    sql: `update topups set status = 'confirming', pending_micros = 1,
                 created_at = created_at - interval '2 days',
                 updated_at = now() - interval '25 hours'
           where status = 'awaiting';
          update events e set id = 'evt_' || id_time(t.created_at) || substr(e.id, 15)
            from topups t where t.id = e.resource_id and t.status = 'confirming'`,
    sentence: /^The top-up has been confirming since \d{4}-/,
  },
  {
    proof: 'no deposit is held for more than 30 days',
    sql: `update chain_transfers
             set held_reason = 'screening', created_at = now() - interval '31 days'
           where state = 'held'`,
    sentence: /^The deposit of \$0\.5 has been held since \d{4}-.* \(screening\)\.$/,
  },
]

await testBreakages(topup_proofs, breakages)
