import { Problem } from '#contract/problem.ts'
import type { Handler } from '#domain/context/context.ts'
import { attemptView, GONE, sendAttempt } from './attempt.ts'
import { findEventOf, insertReplay, markDelivered } from './attempt_store.ts'
import { disabledEvent, markDisabled } from './disable_webhook.ts'
import { EVENT_KEPT_MS } from './sweep_deliveries_task.ts'
import { findWebhookOf, lockWebhookOf } from './webhook_store.ts'

/** Sends before the transaction, so a slow endpoint holds no lock or database connection. */
export const replayWebhook: Handler<'replay_webhook'> = {
  prepare: async (context, input) => {
    const { db, caller, now } = context
    const webhook = await findWebhookOf(db, caller, input.id)
    const event = await findEventOf(db, caller.account_id, input.eid)
    requireNotExpired(event.created_at, now)
    const delivery = {
      ...webhook,
      webhook_id: webhook.id,
      event_id: event.id,
      event_type: event.type,
      body: event.body,
    }
    const outcome = await sendAttempt(context, delivery)

    return async ({ tx, caller, emit, audit, now }) => {
      await lockWebhookOf(tx, caller, webhook.id)
      const replay = await insertReplay(tx, { ...delivery, ...outcome })
      const resource = { type: 'webhook', id: webhook.id }
      if (outcome.status === 'succeeded') {
        await markDelivered(tx, caller.account_id, webhook.id, outcome.created_at)
      }
      audit(caller.account_id, { action: 'replay_webhook', resource })
      if (outcome.response_status === GONE) {
        const gone = await markDisabled(tx, { ...webhook, reason: 'endpoint_gone', now })
        if (gone !== undefined) emit(caller.account_id, disabledEvent(gone))
        if (gone !== undefined) audit(caller.account_id, { action: 'webhook.disabled', resource })
      }
      return attemptView(replay)
    }
  },
}

function requireNotExpired(created_at: Date, now: Date): void {
  if (now.getTime() - created_at.getTime() < EVENT_KEPT_MS) return
  throw new Problem('event_expired', 'Events can be resent for 30 days. This one is older.')
}
