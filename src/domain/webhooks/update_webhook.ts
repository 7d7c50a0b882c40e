import { fieldProblem } from '#contract/common_problems.ts'
import type { InputOfName } from '#contract/operations.ts'
import { requireUnrevoked } from '#domain/accounts/recheck_caller.ts'
import type { Context, Handler } from '#domain/context/context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import { dropDeliveries, recallDeliveries } from './delivery_store.ts'
import {
  hostOf,
  newSecret,
  requireEventTypes,
  requireWebhookUrl,
  type WebhookRow,
  webhookView,
} from './webhook.ts'
import { lockWebhookOf, updateWebhookRow } from './webhook_store.ts'

type UpdateInput = InputOfName<'update_webhook'>

export const updateWebhook: Handler<'update_webhook'> = {
  prepare: async ({ http }, { url, events, rotate_secret, grace_seconds }) => {
    if (grace_seconds !== undefined && rotate_secret === undefined) {
      throw fieldProblem('invalid_request', 'grace_seconds', 'needs rotate_secret')
    }
    if (url !== undefined) await requireWebhookUrl(http, url)
    if (events !== undefined) requireEventTypes(events)
    return applyUpdate
  },
}

async function applyUpdate(context: Context, input: UpdateInput) {
  const { tx, caller, now } = context
  const webhook = await lockWebhookOf(tx, caller, input.id)
  await requireUnrevoked(context)
  const next = { ...webhook, ...updatedContent(webhook, input), ...updatedStatus(webhook, input) }
  const rotated = input.rotate_secret === true ? newSecret(context, webhook.id) : null
  if (rotated === null && !isChange(webhook, next)) return webhookView(webhook, now)

  const changed = await updateWebhookRow(tx, {
    ...next,
    ...(rotated !== null && rotatedSecrets(webhook, rotated, input, now)),
    updated_at: now,
  })
  const isDisabled = webhook.status === 'enabled' && changed.status === 'disabled'
  if (isDisabled) await dropDeliveries(tx, caller.account_id, webhook.id)
  else await recallDeliveries(tx, webhook.id)
  if (changed.url !== webhook.url) {
    context.alert(caller.account_id, { kind: 'webhook_moved', detail: hostOf(changed.url) })
  }
  const isUpdated = isChange(webhook, isDisabled ? { ...next, status: webhook.status } : next)
  auditUpdate(context, webhook.id, { isRotated: rotated !== null, isDisabled, isUpdated })
  const view = webhookView(changed, now)
  return rotated === null ? view : { ...view, secret: rotated.secret }
}

/** An input without changes must not increase the version. */
function isChange(before: WebhookRow, next: WebhookRow): boolean {
  const content = ({ url, description, events, status }: WebhookRow) =>
    canonicalJson([url, description, [...events], status])
  return content(before) !== content(next)
}

function updatedContent(webhook: WebhookRow, input: UpdateInput): Partial<WebhookRow> {
  const { url = webhook.url, description = webhook.description } = input
  return {
    url,
    description,
    events: input.events === undefined ? webhook.events : requireEventTypes(input.events),
    // A new endpoint has not failed yet.
    failing_since: url === webhook.url ? webhook.failing_since : null,
  }
}

/** A webhook enabled after its grant has ended belongs to the account's owner. */
const grantAfterEnable = ({ disabled_reason, grant_id }: WebhookRow) =>
  disabled_reason === 'grant_ended' ? null : grant_id

/** Enabling a webhook clears disabled_reason and failing_since. */
function updatedStatus(webhook: WebhookRow, { status }: UpdateInput): Partial<WebhookRow> {
  if (status === undefined || status === webhook.status) return {}
  return status === 'enabled'
    ? { status, disabled_reason: null, failing_since: null, grant_id: grantAfterEnable(webhook) }
    : { status, disabled_reason: 'requested' }
}

const GRACE_DEFAULT_SECONDS = 86_400

type SealedSecret = Pick<WebhookRow, 'secret_sealed' | 'secret_hint'>

/** Only one previous secret is kept: a second rotation ends the oldest one's grace period. */
function rotatedSecrets(
  webhook: WebhookRow,
  { secret_sealed, secret_hint }: SealedSecret,
  { grace_seconds = GRACE_DEFAULT_SECONDS }: UpdateInput,
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

/** `isUpdated`: something changed that the other two don't name, such as the URL. */
type UpdateEffects = { isRotated: boolean; isDisabled: boolean; isUpdated: boolean }

function auditUpdate(
  { audit, caller }: Context,
  id: string,
  { isRotated, isDisabled, isUpdated }: UpdateEffects,
): void {
  const resource = { type: 'webhook', id }
  if (isRotated) audit(caller.account_id, { action: 'webhook.secret_rotated', resource })
  if (isDisabled) audit(caller.account_id, { action: 'webhook.disabled', resource })
  if (isUpdated) audit(caller.account_id, { action: 'update_webhook', resource })
}
