import type { Proof } from '#domain/ledger/audit_books.ts'

/** Find what a foreign key and a unique index of `events` would refuse. */
export const event_proofs: readonly Proof[] = [
  {
    name: 'every event belongs to an account',
    sql: `select account_id, id from events e
           where not exists (select from accounts a where a.id = e.account_id)`,
  },
  {
    name: "an account's events are numbered without a gap, and no number is used twice",
    sql: `select account_id, count(*)::text as events, max(sequence)::text as last
            from events where sequence is not null
           group by 1 having count(*) <> max(sequence) or count(*) <> count(distinct sequence)`,
  },
]
