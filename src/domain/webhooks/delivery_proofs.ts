import type { Proof } from '#domain/ledger/audit_books.ts'

/** Find what a foreign key of `deliveries` would refuse. */
export const delivery_proofs: readonly Proof[] = [
  {
    name: 'every due delivery belongs to a webhook',
    sql: `select account_id, webhook_id, event_id from deliveries d
           where not exists (select from webhooks w
                              where w.account_id = d.account_id and w.id = d.webhook_id)`,
  },
]
