import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { delivery_proofs } from './delivery_proofs.ts'

const DUE = (since: string) => `
  insert into deliveries (account_id, webhook_id, event_id, next_attempt_at)
  select account_id, 'wh_1', id, now() - interval '${since}' from events where sequence = 1`

const breakages: readonly Breakage[] = [
  {
    proof: 'every due delivery belongs to a webhook',
    sql: DUE('1 minute'),
    sentence: 'The delivery is due, but there is no such webhook.',
  },
  {
    proof: 'every due delivery is attempted within an hour',
    sql: `insert into webhooks (account_id, id, url, events, secret_sealed, secret_hint,
                                after_sequence, created_at, updated_at)
          select account_id, 'wh_1', 'https://example.com', '{*}', '', '', 0, now(), now()
            from account_sequences;
          ${DUE('2 hours')}`,
    sentence: /^The delivery has been due since \d{4}-/,
  },
  {
    proof: 'every event is fanned out within ten minutes',
    sql: `insert into outbox (account_id, event_id)
          select account_id, 'evt_' || id_time(now() - interval '11 minutes') || '0000000000000000'
            from account_sequences`,
    sentence: 'The event still waits for its deliveries and emails.',
  },
]

await testBreakages(delivery_proofs, breakages)
