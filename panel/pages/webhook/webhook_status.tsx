import type { Webhook } from '#contract/webhooks.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'

/** An enabled endpoint that refuses deliveries is not fine. */
export function WebhookStatus({ webhook: { status, failing_since } }: { webhook: Webhook }) {
  if (failing_since !== null && status === 'enabled') return <Badge tone="bad">Failing</Badge>
  return <Status of={status} />
}
