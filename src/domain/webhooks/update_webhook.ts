import type { InputOfName } from '#contract/operations.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { dropDeliveries, recallDeliveries } from './delivery_store.ts'
import {
  newSecret,
  placeOf,
  requireEventTypes,
  requireWebhookUrl,
  type WebhookRow,
  webhookView,
} from './webhook.ts'
import { lockWebhookOf, updateWebhookRow } from './webhook_store.ts'

type Change = InputOfName<'update_webhook'>

export const updateWebhook: Handler<'update_webhook'> = {
  prepare: async ({ http }, { url, events }) => {
    if (url !== undefined) await requireWebhookUrl(http, url)
    if (events !== undefined) requireEventTypes(events)
    return change
  },
}

async function change(context: Context, input: Change) {
  const { tx, caller, now } = context
  const webhook = await lockWebhookOf(tx, caller, input.id)
  if (!isChange(input)) return webhookView(webhook, now)

  const rotated = input.rotate_secret === true ? newSecret(context, webhook.id) : null
  const changed = await updateWebhookRow(tx, {
    ...webhook,
    ...contentOf(webhook, input),
    ...statusOf(webhook, input),
    ...(rotated !== null && secretsOf(webhook, rotated, input, now)),
    updated_at: now,
  })
  const isTurnedOff = webhook.status === 'enabled' && changed.status === 'disabled'
  if (isTurnedOff) await dropDeliveries(tx, caller.account_id, webhook.id)
  else await recallDeliveries(tx, webhook.id)
  if (changed.url !== webhook.url) {
    context.alert(caller.account_id, { kind: 'webhook_moved', detail: placeOf(changed.url) })
  }
  tell(context, webhook.id, { isRotated: rotated !== null, isTurnedOff })
  const view = webhookView(changed, now)
  return rotated === null ? view : { ...view, secret: rotated.secret }
}

function isChange({ id: _id, grace_seconds: _grace, rotate_secret, ...rest }: Change): boolean {
  return rotate_secret === true || Object.keys(rest).length > 0
}

function contentOf(webhook: WebhookRow, input: Change): Partial<WebhookRow> {
  const { url = webhook.url, description = webhook.description } = input
  return {
    url,
    description,
    events: input.events === undefined ? webhook.events : requireEventTypes(input.events),
    // Another endpoint has not failed yet.
    failing_since: url === webhook.url ? webhook.failing_since : null,
  }
}

/** A grant that is over holds nothing: what is turned on after its end is the owner's own. */
const holderOf = ({ disabled_reason, grant_id }: WebhookRow) =>
  disabled_reason === 'grant_ended' ? null : grant_id

/** Turning it on forgets why it was off, and that it had been failing. */
function statusOf(webhook: WebhookRow, { status }: Change): Partial<WebhookRow> {
  if (status === undefined || status === webhook.status) return {}
  return status === 'enabled'
    ? { status, disabled_reason: null, failing_since: null, grant_id: holderOf(webhook) }
    : { status, disabled_reason: 'requested' }
}

const GRACE_SECONDS = 86_400

type Rotated = Pick<WebhookRow, 'secret_sealed' | 'secret_hint'>

/** There is one secret before the present one: rotating twice within a grace ends the oldest. */
function secretsOf(
  webhook: WebhookRow,
  { secret_sealed, secret_hint }: Rotated,
  { grace_seconds = GRACE_SECONDS }: Change,
  now: Date,
): Partial<WebhookRow> {
  const hasGrace = grace_seconds > 0
  return {
    secret_sealed,
    secret_hint,
    previous_secret_sealed: hasGrace ? webhook.secret_sealed : null,
    previous_secret_expires_at: hasGrace ? new Date(now.getTime() + grace_seconds * 1_000) : null,
  }
}

type Told = { isRotated: boolean; isTurnedOff: boolean }

function tell({ audit, caller }: Context, id: string, { isRotated, isTurnedOff }: Told): void {
  const resource = { type: 'webhook', id }
  if (isRotated) audit(caller.account_id, { action: 'webhook.secret_rotated', resource })
  if (isTurnedOff) audit(caller.account_id, { action: 'webhook.disabled', resource })
  if (!isRotated && !isTurnedOff) audit(caller.account_id, { action: 'update_webhook', resource })
}
