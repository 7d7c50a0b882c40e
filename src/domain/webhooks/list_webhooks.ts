import type { Delivery } from '#contract/webhooks.ts'
import type { Handler } from '#domain/context/context.ts'
import { requireKnownTypes } from '#domain/events/event.ts'
import { anyOf, type Condition, equals } from '#platform/postgres/page.ts'
import { attemptView } from './attempt.ts'
import { findRecentAttempts } from './attempt_store.ts'
import { isEventType, isKnownType, webhookView } from './webhook.ts'
import { readWebhookPage } from './webhook_store.ts'

const RECENT_MAX = 20

export const listWebhooks: Handler<'list_webhooks'> = async ({ tx, caller, now }, input) => {
  requireKnownTypes(input.event, isKnownType)
  const page = await readWebhookPage(tx, input, [
    ['account_id = ?', caller.account_id],
    ...equals('grant_id', caller.grant_id),
    ...anyOf('status', input.status),
    ...eventCondition(input.event),
  ])
  const data = page.data.map((webhook) => webhookView(webhook, now))
  if (input.expand === undefined) return { ...page, data }

  const ids = data.map(({ id }) => id)
  const attempts = await findRecentAttempts(tx, caller.account_id, ids, RECENT_MAX)
  const recent = new Map<string, Delivery[]>(ids.map((id) => [id, []]))
  for (const attempt of attempts) recent.get(attempt.webhook_id)?.push(attemptView(attempt))
  const expanded = data.map((row) => ({ ...row, recent_deliveries: recent.get(row.id) ?? [] }))
  return { ...page, data: expanded }
}

/** Matches webhooks that name an event type or subscribe to all with `*`. */
function eventCondition(list: string | undefined): Condition[] {
  if (list === undefined) return []
  const types = list.split(',')
  return [['events && ?', types.some(isEventType) ? [...types, '*'] : types]]
}
