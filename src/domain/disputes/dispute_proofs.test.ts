import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { dispute_proofs } from './dispute_proofs.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'each dispute has one event of its filing, and one of its end',
    sql: `update events set id = 'evt_00' || substr(id, 7) where type = 'dispute.resolved'`,
    sentence: 'The dispute is closed, with 1 events of its filing and 0 of its end.',
  },
  {
    proof: 'each dispute event has its dispute, in a state that the event leads to',
    sql: `insert into events (account_id, id, type, activity_type, severity, message, resource_type,
                              resource_id, created_at)
          select account_id, 'evt_' || substr(id, 5), 'dispute.answered', 'spend', 'info', '',
                 'dispute', id, created_at
            from disputes where status = 'open'`,
    sentence: 'There is an event dispute.answered; the dispute is open.',
  },
  {
    proof: 'a dispute moves its credit once, and takes back what it lost',
    sql: `update movements set reference_id = 'dsp_other' where movement = 'dispute_reversed'`,
    sentence: 'The dispute of $12 credited $12 and took back $0 of $12.',
  },
  {
    proof: 'each dispute has its transaction, unless that is archived',
    sql: `update disputes set transaction_id = 'txn_missing' where status = 'open'`,
    sentence: 'There is no transaction txn_missing.',
  },
  {
    proof: 'refunds and dispute credits of a capture never exceed it',
    sql: `update disputes set amount_micros = 16000000 where status = 'open';
          update movements set amount_micros = 16000000
           where movement = 'dispute_credited' and amount_micros = 15000000;
          update movements set from_balance_micros = from_balance_micros + 1000000
           where from_kind = 'treasury' and id > (select id from movements
             where movement = 'dispute_credited' and amount_micros = 16000000);
          update movements set to_balance_micros = to_balance_micros + 1000000
           where to_kind = 'treasury' and id >= (select id from movements
             where movement = 'dispute_credited' and amount_micros = 16000000);
          update purses set balance_micros = balance_micros + 1000000 where kind = 'treasury'`,
    sentence: '$20 was captured; $5 was refunded and $16 credited by disputes.',
  },
  {
    proof: "a dispute's status has the timestamps of its path",
    sql: `update disputes set response_text = 'No.', response_at = created_at
           where status = 'open'`,
    sentence: 'The dispute is open, but its timestamps say otherwise.',
  },
  {
    proof: 'no dispute is open for more than 120 days',
    sql: `update disputes set created_at = created_at - interval '121 days'
           where status = 'open'`,
    sentence: 'The dispute was filed 121 days ago and is still open.',
  },
  {
    proof: 'every evidence deadline has its notice within an hour',
    sql: `update disputes set evidence_due_at = now() - interval '2 hours' where status = 'open'`,
    sentence: 'The deadline for evidence passed without a notice.',
  },
]

await testBreakages(dispute_proofs, breakages)
