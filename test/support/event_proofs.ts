import assert from 'node:assert/strict'
import { verifyAudit } from '#domain/audit/verify_audit.ts'
import type { Database } from '#platform/postgres/db.ts'

/**
 * Every account's webhook events are numbered 1, 2, 3 … without gaps or duplicates. Every card
 * transaction has exactly one event; an authorization has one per approved message (the first and
 * its increments), and an advice that only corrects one has none. Every audit chain verifies.
 */
export async function assertEventsAreWhole(db: Database): Promise<void> {
  const misnumbered = await db.rows(
    `select h.account_id, h.event_sequence, count(e.sequence), count(distinct e.sequence)
       from account_sequences h left join events e
         on e.account_id = h.account_id and e.sequence is not null
      group by h.account_id, h.event_sequence
     having count(e.sequence) <> h.event_sequence
         or count(distinct e.sequence) <> h.event_sequence
         or coalesce(max(e.sequence), 0) <> h.event_sequence`,
  )
  assert.deepEqual(misnumbered, [], 'sequences have no gaps and no duplicates')
  const unannounced = await db.rows(
    `with announced as (
       select account_id, resource_id, type, count(*) as events
         from events where resource_type = 'transaction' group by 1, 2, 3
     ), approved as (
       select m.account_id, m.transaction_id, count(*) as messages
         from network_messages m
         join transactions t on t.account_id = m.account_id and t.id = m.transaction_id
        where (mti like '010_' or mti like '020_' or m.identity = t.message_identity)
          and response_code in ('00', '10')
        group by 1, 2
     )
     select t.id, t.type, coalesce(a.events, 0) as events
       from transactions t
       left join announced a on a.account_id = t.account_id and a.resource_id = t.id
        and a.type = 'transaction.' || case t.type when 'authorization' then 'authorized'
              when 'capture' then 'captured' when 'refund' then 'refunded' else 'declined' end
       left join approved m on m.account_id = t.account_id and m.transaction_id = t.id
      where coalesce(a.events, 0)
         <> case t.type when 'authorization' then coalesce(m.messages, 0) else 1 end`,
  )
  assert.deepEqual(unannounced, [], 'each transaction has the events it should have')
  const { faults } = await verifyAudit(db)
  assert.deepEqual(faults, [])
}
