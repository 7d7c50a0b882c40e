import type { Handler } from '#domain/context/context.ts'
import { deleteWebhookOf } from './webhook_store.ts'

export const deleteWebhook: Handler<'delete_webhook'> = async ({ tx, caller, audit }, { id }) => {
  await deleteWebhookOf(tx, caller, id)
  audit(caller.account_id, { action: 'delete_webhook', resource: { type: 'webhook', id } })
  return {}
}
