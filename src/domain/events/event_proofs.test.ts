import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { event_proofs } from './event_proofs.ts'
import { running_sequences } from './running_sequences.ts'

const SEQUENCE = "an account's events are numbered without a gap, and no number is used twice"

const breakages: readonly Breakage[] = [
  {
    proof: SEQUENCE,
    sql: 'update events set sequence = 1 where sequence = 2',
    sentence: /^Two events have the number 1\. The events are numbered up to 1 without a gap/,
  },
  {
    proof: SEQUENCE,
    sql: 'update events set sequence = sequence + 1 where sequence > 1',
    sentence: /^The events are numbered up to 1 without a gap; the sequence row has \d+\.$/,
  },
  {
    proof: SEQUENCE,
    sql: 'update account_sequences set event_sequence = event_sequence + 1',
    sentence: /^The events are numbered up to \d+ without a gap; the sequence row has \d+\.$/,
  },
  {
    proof: 'every event belongs to an account',
    sql: `insert into events (account_id, id, type, severity, message, resource_type, resource_id,
                              created_at)
          values ('acct_missing', 'evt_1', 'account.signed_in', 'info', '', 'account', '', now())`,
    sentence: 'There are events of acct_missing, but no such account.',
  },
  {
    proof: 'every account has a sequence row',
    sql: `insert into accounts (id, email, password_hash, notifications, created_at, updated_at)
          values ('acct_1', 'a@example.com', 'none', '{}', now(), now())`,
    sentence: 'The account has no sequence row.',
  },
]

await testBreakages([running_sequences, ...event_proofs], breakages)
