import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import type { ActivityRow } from './activity.ts'

const SELECT = `select id, sequence, type, activity_type, severity, message, card_id, amount_micros,
                    resource_type, resource_id, created_at
               from events`

export function pageOfActivity(
  tx: Tx,
  operation: 'get_activity' | 'filter_activity',
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<ActivityRow>> {
  return readPage(tx, { operation, prefix: 'evt', select: SELECT, where, input })
}

/** Told of accounts to which something has happened, once the rows can be read. */
export const ACTIVITY_CHANNEL = 'florin_activity'

/** A notice may have 8,000 bytes; these are 31 each, and a comma. */
const ACCOUNTS_A_NOTICE = 200

/** Hears the events as they leave the outbox, so that no purchase's commit waits for a notice. */
export async function notifyActivity(tx: Tx, events: readonly OutboxEvent[]): Promise<void> {
  const accounts = [...new Set(events.map(({ account_id }) => account_id))]
  for (let at = 0; at < accounts.length; at += ACCOUNTS_A_NOTICE) {
    const told = accounts.slice(at, at + ACCOUNTS_A_NOTICE).join(',')
    await tx.rows('select pg_notify($1, $2)', [ACTIVITY_CHANNEL, told])
  }
}
