import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { dropDeliveries } from './delivery_store.ts'
import type { WebhookRow } from './webhook.ts'
import type { SystemDependencies } from './webhook_dependencies.ts'

const disabled_reasons = {
  endpoint_gone: 'it responded with 410 Gone',
  failing_for_5_days: 'every delivery failed for five days',
} as const
type DisabledReason = keyof typeof disabled_reasons

type DisableInput = Pick<WebhookRow, 'account_id' | 'id'> & {
  reason: DisabledReason
  now: Date
  /** Only if it still has this URL: a late response of its old endpoint must not end it. */
  url?: string
  /** Only if it still fails since before then: a success may have come after it was read. */
  failing_before?: Date
}
type DisabledWebhook = Pick<WebhookRow, 'id' | 'url'> & { reason: DisabledReason }

/**
 * Drops due deliveries, which can be replayed. Undefined if it was already disabled, deleted or
 * moved to another URL, or does not fail any longer.
 */
export async function markDisabled(
  tx: Tx,
  input: DisableInput,
): Promise<DisabledWebhook | undefined> {
  const { account_id, id, reason, now, url, failing_before } = input
  const [webhook] = await tx.rows<Pick<WebhookRow, 'id' | 'url'>>(
    // FOR UPDATE waits for the fan-out's share lock, so no delivery is inserted afterwards.
    `with locked as (
       select account_id, id from webhooks
        where account_id = $1 and id = $2 and status = 'enabled'
          and ($5::text is null or url = $5)
          and ($6::timestamptz is null or failing_since <= $6) for update)
     update webhooks w
        set status = 'disabled', disabled_reason = $3, version = version + 1, updated_at = $4
       from locked l
      where w.account_id = l.account_id and w.id = l.id
  returning w.id, w.url`,
    [account_id, id, reason, now, url ?? null, failing_before ?? null],
  )
  if (webhook === undefined) return undefined
  await dropDeliveries(tx, account_id, id)
  return { ...webhook, reason }
}

/** Disables the webhooks that were created with a grant's tokens and drops their deliveries. */
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

/** Shown as an error in the activity stream and sent to the owner by email. */
export function disabledEvent({ id, url, reason }: DisabledWebhook): NewEvent {
  return {
    type: 'webhook.disabled',
    message: `Webhook to ${new URL(url).host} disabled: ${disabled_reasons[reason]}.`,
    severity: 'error',
    resource: { type: 'webhook', id },
    object: null,
  }
}

/** For a webhook that the service disables itself. */
export async function disableWebhook(
  dependencies: SystemDependencies,
  input: DisableInput,
): Promise<void> {
  const { account_id, id } = input
  await dependencies.db.transaction(async (tx) => {
    const disabled = await markDisabled(tx, input)
    if (disabled === undefined) return
    await emitAsSystem(tx, dependencies, account_id, {
      events: [disabledEvent(disabled)],
      entries: [{ action: 'webhook.disabled', resource: { type: 'webhook', id } }],
    })
  })
}
