import type { Handler } from '#platform/context.ts'
import {
  newSecret,
  requireEventTypes,
  requireRoomForOneMore,
  requireWebhookUrl,
  webhookView,
} from './webhook.ts'
import { countWebhooksLocked, insertWebhook } from './webhook_store.ts'

export const createWebhook: Handler<'create_webhook'> = {
  prepare: async ({ http }, input) => {
    await requireWebhookUrl(http, input.url)
    const events = requireEventTypes(input.events)

    return async (context) => {
      const { tx, caller, now } = context
      requireRoomForOneMore(await countWebhooksLocked(tx, caller.account_id))

      const id = context.newId('wh')
      const { secret, ...sealed } = newSecret(context, id)
      const webhook = await insertWebhook(tx, {
        account_id: caller.account_id,
        id,
        url: input.url,
        events,
        description: input.description ?? null,
        ...sealed,
        now,
      })
      context.audit(caller.account_id, {
        action: 'create_webhook',
        resource: { type: 'webhook', id },
      })
      return { ...webhookView(webhook, now), secret }
    }
  },
}
