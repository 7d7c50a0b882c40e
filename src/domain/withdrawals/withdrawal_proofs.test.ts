import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { chain_proofs } from './chain_proofs.ts'
import { withdrawal_proofs } from './withdrawal_proofs.ts'

/** A withdrawal that was just requested: with its movement, at a time before now. */
const requestedAt = (age: string, fields: string) => `
  insert into withdrawals (account_id, id, asset, chain, address, amount_micros, fee_micros,
                           step, approval, next_try_at, created_at, updated_at)
  select account_id, 'wd_' || id_time(now() - interval '${age}') || '0000000000000000', 'USDT',
         'tron', '', 10000000, 1000000, ${fields}, now() - interval '${age}',
         now() - interval '${age}'
    from account_sequences;
  insert into movements (account_id, id, movement, from_kind, from_balance_micros, to_kind,
                         to_balance_micros, amount_micros, reference_type, reference_id,
                         description, created_at)
  select account_id, 'bal_' || id_time(now()) || '0000000000000000', 'withdrawal_reserved',
         'treasury', p.balance_micros - 10000000, 'payout', 10000000, 10000000, 'withdrawal',
         'wd_' || id_time(now() - interval '${age}') || '0000000000000000', '', now()
    from purses p where p.kind = 'treasury';
  update purses set balance_micros = balance_micros - 10000000 where kind = 'treasury';
  update purses set balance_micros = balance_micros + 10000000 where kind = 'payout'`

const breakages: readonly Breakage[] = [
  {
    proof: 'each withdrawal has one event of its broadcast and one of its end',
    sql: `update events set id = 'evt_00' || substr(id, 7) where type = 'withdrawal.completed'`,
    sentence: 'The withdrawal is completed, with 1 events of its broadcast and 0 of its end.',
  },
  {
    proof: 'each withdrawal event has its withdrawal, in a state that the event leads to',
    sql: `insert into events (account_id, id, type, activity_type, severity, message, resource_type,
                              resource_id, created_at)
          select account_id, 'evt_00' || substr(id, 6), 'withdrawal.failed', 'spend', 'error', '',
                 'withdrawal', id, created_at
            from withdrawals where step = 'completed'`,
    sentence: 'There is an event withdrawal.failed; the withdrawal is completed.',
  },
  {
    proof: 'each withdrawal has the movements of its step, once and of its amount',
    sql: `update movements set reference_id = 'wd_other' where movement = 'withdrawal_fee_taken'`,
    sentence:
      'The withdrawal of $30 is completed: $30 was reserved, $29 sent, $0 taken as a fee and ' +
      '$0 returned.',
  },
  {
    proof: 'a withdrawal has the status that its step and timestamps lead to',
    sql: `update withdrawals set completed_at = updated_at where step = 'failed'`,
    sentence: 'The withdrawal is failed at step failed, but its timestamps say otherwise.',
  },
  {
    proof: 'each signed withdrawal has its signed bytes stored',
    sql: `update withdrawals set txid = 'other' where step = 'completed'`,
    sentence: 'The withdrawal is completed, but the bytes of other are not stored.',
  },
  {
    proof: 'the payout purse of an account equals its open withdrawals',
    sql: `insert into movements (account_id, id, movement, from_kind, from_balance_micros, to_kind,
                                 to_balance_micros, amount_micros, reference_type, reference_id,
                                 description, created_at)
          select account_id, 'bal_' || id_time(now()) || '0000000000000000', 'withdrawal_reserved',
                 'treasury', balance_micros - 1000000, 'payout', 1000000, 1000000, 'withdrawal',
                 'wd_missing', '', now()
            from purses where kind = 'treasury';
          update purses set balance_micros = balance_micros - 1000000 where kind = 'treasury';
          update purses set balance_micros = balance_micros + 1000000 where kind = 'payout'`,
    sentence: 'The payout purse has $1; open withdrawals sum to $0.',
  },
  {
    proof:
      'each deposit being refunded has one open withdrawal, and each such withdrawal a deposit',
    sql: `update chain_transfers set state = 'refunding' where state = 'held'`,
    sentence: 'The deposit is being refunded without a withdrawal.',
  },
  {
    proof: 'every withdrawal is advanced within an hour',
    sql: requestedAt('2 hours', `'reserved', '', now() - interval '2 hours'`),
    sentence: /^The withdrawal is reserved and was due at \d{4}-/,
  },
  {
    proof: 'every withdrawal arrives or returns within a day',
    sql: requestedAt('25 hours', `'reserved', '', now()`),
    sentence: /^The withdrawal was requested at \d{4}-.* and is reserved\.$/,
  },
  {
    proof: 'no withdrawal waits for a review for more than 7 days',
    sql: requestedAt('8 days', `'review', '', now()`),
    sentence: /^The withdrawal has waited for a review since \d{4}-/,
  },
  {
    proof: 'custody equals received transfers minus completed withdrawals',
    sql: `update withdrawals set refund_of = 'bal_other' where step = 'completed';
          delete from velocities`,
    sentence: 'Custody is $371.5; $400.5 was received and $0 was sent.',
  },
  {
    proof: 'the unswept amount of an address is its transfers minus its sweeps',
    sql: 'update address_holdings set received_micros = received_micros + 1000000',
    sentence:
      /^The address shows \$\d+(\.\d+)? received and \$0 swept; transfers and sweeps sum to /,
  },
]

await testBreakages([...withdrawal_proofs, ...chain_proofs], breakages)
