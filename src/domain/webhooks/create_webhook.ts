import { tokenRevoked } from '#contract/common_problems.ts'
import { requireUnrevoked } from '#domain/accounts/recheck_caller.ts'
import type { Handler } from '#domain/context/context.ts'
import { lockLiveGrant } from '#domain/credentials/grant_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
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

/** Locks the grant, so a webhook cannot be created while its grant is being revoked. */
async function requireLiveGrant(tx: Tx, grant_id: string, now: Date): Promise<void> {
  if (await lockLiveGrant(tx, grant_id, now)) return
  throw tokenRevoked()
}
