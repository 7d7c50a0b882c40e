import { requireUnrevoked } from '#domain/accounts/recheck_caller.ts'
import type { Handler } from '#domain/context/context.ts'
import { requireLiveGrant } from '#domain/credentials/grant_store.ts'
import {
  hostOf,
  newSecret,
  requireBelowWebhookLimit,
  requireEventTypes,
  requireWebhookUrl,
  webhookView,
} from './webhook.ts'
import { insertWebhook, lockAndCountWebhooks } from './webhook_store.ts'

export const createWebhook: Handler<'create_webhook'> = {
  prepare: async ({ http }, input) => {
    await requireWebhookUrl(http, input.url)
    const events = requireEventTypes(input.events)

    return async (context) => {
      const { tx, caller, now } = context
      const grant_id = caller.grant_id ?? null
      if (grant_id !== null) await requireLiveGrant(tx, grant_id, now)
      else await requireUnrevoked(context)
      requireBelowWebhookLimit(await lockAndCountWebhooks(tx, caller.account_id))

      const id = context.newId('wh')
      const { secret, ...sealed } = newSecret(context, id)
      const webhook = await insertWebhook(tx, {
        account_id: caller.account_id,
        id,
        url: input.url,
        events,
        description: input.description ?? null,
        grant_id,
        ...sealed,
        now,
      })
      context.audit(caller.account_id, {
        action: 'create_webhook',
        resource: { type: 'webhook', id },
      })
      context.alert(caller.account_id, { kind: 'webhook_created', detail: hostOf(input.url) })
      return { ...webhookView(webhook, now), secret }
    }
  },
}
