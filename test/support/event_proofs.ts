import assert from 'node:assert/strict'
import { verifyAudit } from '#domain/access/verify_audit.ts'
import type { Database } from '#platform/db.ts'

/**
 * Every account's webhook events are numbered 1, 2, 3 … without a gap or a double, every card
 * transaction was announced by exactly one event (an authorization by one for each message that
 * was approved: the first and its increments), and every audit chain verifies.
 */
export async function assertEventsAreWhole(db: Database): Promise<void> {
  const misnumbered = await db.rows(
    `select h.account_id, h.event_sequence, count(e.sequence), count(distinct e.sequence)
       from account_heads h left join events e
         on e.account_id = h.account_id and e.sequence is not null
      group by h.account_id, h.event_sequence
     having count(e.sequence) <> h.event_sequence
         or count(distinct e.sequence) <> h.event_sequence
         or coalesce(max(e.sequence), 0) <> h.event_sequence`,
  )
  assert.deepEqual(misnumbered, [], 'sequences have no gap and no double')
  const unannounced = await db.rows(
    `select t.id, t.type, count(e.id) as events
       from transactions t left join events e
         on e.account_id = t.account_id and e.resource_id = t.id
        and e.type = 'transaction.' || case t.type when 'authorization' then 'authorized'
              when 'capture' then 'captured' when 'refund' then 'refunded' else 'declined' end
      group by t.account_id, t.id, t.type
     having count(e.id) <> case t.type when 'authorization'
              then (select count(*) from network_messages m
                     where m.account_id = t.account_id and m.transaction_id = t.id
                       and (m.mti like '01__' or m.mti like '020_') and m.response_code = '00')
              else 1 end`,
  )
  assert.deepEqual(unannounced, [], 'each transaction has the events it should have')
  const { faults } = await verifyAudit(db)
  assert.deepEqual(faults, [])
}
