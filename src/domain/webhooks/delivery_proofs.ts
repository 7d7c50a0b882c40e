import type { Proof } from '#domain/context/proof.ts'

/** Deliveries that a foreign key would refuse, and those that have waited for too long. */
export const delivery_proofs: readonly Proof[] = [
  {
    name: 'every due delivery belongs to a webhook',
    scope: 'program',
    sql: `select account_id, webhook_id || '/' || event_id as id,
                 'The delivery is due, but there is no such webhook.' as sentence
            from deliveries d
           where not exists (select from webhooks w
                              where w.account_id = d.account_id and w.id = d.webhook_id)
           limit 1000`,
  },
  {
    name: 'every due delivery is attempted within an hour',
    scope: 'program',
    sql: `select d.account_id, d.webhook_id || '/' || d.event_id as id,
                 format('The delivery has been due since %s.', d.next_attempt_at) as sentence
            from deliveries d
            join webhooks w on w.account_id = d.account_id and w.id = d.webhook_id
           where d.next_attempt_at < $1::timestamptz - interval '1 hour' and w.status = 'enabled'
           order by d.next_attempt_at limit 1000`,
  },
  {
    name: 'every event is fanned out within ten minutes',
    scope: 'program',
    sql: `select account_id, event_id as id,
                 'The event still waits for its deliveries and emails.' as sentence
            from outbox
           where event_id < 'evt_' || id_time($1::timestamptz - interval '10 minutes')
           order by event_id limit 1000`,
  },
]
