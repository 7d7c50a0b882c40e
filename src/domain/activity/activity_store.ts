import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { notify } from '#platform/postgres/notify.ts'
import { makePageReader } from '#platform/postgres/page.ts'
import type { ActivityRow } from './activity.ts'

export const readActivityPage = makePageReader<ActivityRow>({
  prefix: 'evt',
  select: `select id, sequence, type, activity_type, severity, message, card_id, amount_micros,
                  resource_type, resource_id, created_at
             from events`,
})

/** Carries the ids of accounts that have new activity, once its rows are visible. */
export const ACTIVITY_CHANNEL = 'florin_activity'

/** A NOTIFY payload holds less than 8,000 bytes; an account id and a comma take 32. */
const ACCOUNTS_PER_NOTIFY = 200

/** Runs when events leave the outbox: a NOTIFY in a purchase's own commit would slow it down. */
export async function notifyActivity(tx: Tx, events: readonly OutboxEvent[]): Promise<void> {
  const accounts = [...new Set(events.map(({ account_id }) => account_id))]
  for (let at = 0; at < accounts.length; at += ACCOUNTS_PER_NOTIFY) {
    const payload = accounts.slice(at, at + ACCOUNTS_PER_NOTIFY).join(',')
    await notify(tx, ACTIVITY_CHANNEL, payload)
  }
}
