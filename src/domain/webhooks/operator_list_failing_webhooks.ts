import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { readPage } from '#platform/postgres/page.ts'
import { type WebhookRow, webhookView } from './webhook.ts'

export const operatorListFailingWebhooks: OperatorHandler<
  'operator_list_failing_webhooks'
> = async ({ tx, now }, input) => {
  const page = await readPage<WebhookRow>(tx, {
    operation: 'operator_list_failing_webhooks',
    prefix: 'wh',
    select: `select account_id, id, url, events, status, disabled_reason, description, secret_hint,
                    previous_secret_expires_at, failing_since, last_delivery_at, version,
                    created_at, updated_at
               from webhooks`,
    where: [["(failing_since is not null or status = 'disabled')"]],
    input,
  })
  const data = page.data.map((row) => ({
    account_id: row.account_id,
    ...webhookView(row, now),
  }))
  return withEmails(tx, { ...page, data })
}
