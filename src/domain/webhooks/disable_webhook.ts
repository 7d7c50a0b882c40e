import { recordAudit } from '#domain/audit/audit.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { dropDeliveries } from './delivery_store.ts'
import type { WebhookRow } from './webhook.ts'

const disabled_reasons = {
  endpoint_gone: 'it responded with 410 Gone',
  failing_for_5_days: 'every delivery failed for five days',
} as const
export type DisabledReason = keyof typeof disabled_reasons

type Disabling = Pick<WebhookRow, 'account_id' | 'id'> & { reason: DisabledReason; now: Date }
type Disabled = Pick<WebhookRow, 'id' | 'url'> & { reason: DisabledReason }

/** What is due is dropped: it can be replayed. Undefined where it is disabled or gone already. */
export async function markDisabled(tx: Tx, disabling: Disabling): Promise<Disabled | undefined> {
  const { account_id, id, reason, now } = disabling
  const [webhook] = await tx.rows<Pick<WebhookRow, 'id' | 'url'>>(
    // Locked as if it were deleted: whoever writes rows for it has finished, or finds it disabled.
    `with locked as (
       select account_id, id from webhooks
        where account_id = $1 and id = $2 and status = 'enabled' for update)
     update webhooks w
        set status = 'disabled', disabled_reason = $3, version = version + 1, updated_at = $4
       from locked l
      where w.account_id = l.account_id and w.id = l.id
  returning w.id, w.url`,
    [account_id, id, reason, now],
  )
  if (webhook === undefined) return undefined
  await dropDeliveries(tx, account_id, id)
  return { ...webhook, reason }
}

/** Disables the subscriptions that were made with a grant's tokens and drops their deliveries. */
export async function disableWebhooksOfGrant(
  tx: Tx,
  grant_id: string,
  now: Date,
): Promise<Pick<WebhookRow, 'account_id' | 'id' | 'events'>[]> {
  const disabled = await tx.rows<Pick<WebhookRow, 'account_id' | 'id' | 'events'>>(
    // Locked as for a delete: deliveries that are being written are finished before it.
    `with locked as (
       select account_id, id from webhooks
        where grant_id = $1 and status = 'enabled' order by id for update)
     update webhooks w
        set status = 'disabled', disabled_reason = 'grant_ended', version = version + 1,
            updated_at = $2
       from locked l
      where w.account_id = l.account_id and w.id = l.id
  returning w.account_id, w.id, w.events`,
    [grant_id, now],
  )
  for (const { account_id, id } of disabled) await dropDeliveries(tx, account_id, id)
  return disabled
}

/** Stands among the failures of the activity stream, and is what the owner's e-mail is made of. */
export function disabledEvent({ id, url, reason }: Disabled): NewEvent {
  return {
    type: 'webhook.disabled',
    message: `Webhook to ${new URL(url).host} disabled: ${disabled_reasons[reason]}.`,
    severity: 'error',
    resource: { type: 'webhook', id },
    object: null,
  }
}

type Tools = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

/** Done by the service itself, with all that an owner needs to find out about it. */
export async function disableWebhook(tools: Tools, disabling: Disabling): Promise<void> {
  const { db, clock, newId, settings } = tools
  const { account_id, id } = disabling
  const stamp = (prefix: 'evt' | 'aud') => () => {
    const created_at = clock.now()
    return { id: newId(prefix, created_at), created_at }
  }
  await db.transaction(async (tx) => {
    const disabled = await markDisabled(tx, disabling)
    if (disabled === undefined) return
    await recordEvents(tx, account_id, [disabledEvent(disabled)], {
      livemode: settings.mode === 'live',
      request: null,
      stamp: stamp('evt'),
    })
    const entry = { action: 'webhook.disabled', resource: { type: 'webhook', id } }
    await recordAudit(tx, account_id, [entry], { ...SYSTEM, stamp: stamp('aud') })
  })
}

const SYSTEM = {
  actor_type: 'system',
  actor_id: null,
  actor_name: null,
  operation: null,
  ip: null,
  user_agent: null,
  request_id: null,
} as const
