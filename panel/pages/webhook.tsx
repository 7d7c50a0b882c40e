import type { Webhook } from '#contract/webhooks.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Badge } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { disabledReason } from '#panel/words/disabled_reason.ts'
import { NotFound } from './not_found.tsx'
import { Deliveries } from './webhook/deliveries.tsx'
import { WebhookActions } from './webhook/webhook_actions.tsx'
import { WebhookStatus } from './webhook/webhook_status.tsx'

/** Deliveries emit no activity event, so the page polls. */
const REFETCH_MS = 5_000

/** There is no operation for a single webhook; one page lists all of an account, at most 20. */
export function WebhookPage({ id }: { id: string }) {
  const input = { expand: 'deliveries', limit: 100 } as const
  const query = useOperationQuery('list_webhooks', input, { refetchInterval: REFETCH_MS })
  return (
    <>
      <BackLink href="/developers/webhooks">Webhooks</BackLink>
      <QueryBoundary query={query}>
        {({ data }) => {
          const webhook = data.find((each) => each.id === id)
          return webhook === undefined ? <NotFound /> : <Details webhook={webhook} />
        }}
      </QueryBoundary>
    </>
  )
}

function Details({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <PageHeader
        title={<span className="break-all">{webhook.url}</span>}
        tab={webhook.url}
        description={
          <span className="flex flex-wrap items-center gap-2">
            <WebhookStatus webhook={webhook} />
            {webhook.description}
          </span>
        }
        action={<WebhookActions webhook={webhook} />}
      />
      <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
        <Deliveries webhook={webhook} />
        <div className="min-w-0 space-y-4">
          <Section title="Details">
            <DescriptionList rows={detailRows(webhook)} />
          </Section>
          <Section title="Events">
            <ul className="flex flex-wrap gap-1.5">
              {webhook.events.map((event) => (
                <li key={event}>
                  <Badge>{event === '*' ? 'All events' : event}</Badge>
                </li>
              ))}
            </ul>
          </Section>
        </div>
      </div>
    </>
  )
}

function detailRows(webhook: Webhook) {
  const { disabled_reason, failing_since, previous_secret_expires_at, last_delivery_at } = webhook
  const last_attempt = webhook.recent_deliveries?.[0]
  return [
    disabled_reason !== null && (['Disabled reason', disabledReason(disabled_reason)] as const),
    failing_since !== null &&
      (['Failing since', <Time key="failing" at={failing_since} />] as const),
    last_attempt !== undefined &&
      (['Last attempt', <Time key="attempt" at={last_attempt.created_at} />] as const),
    [
      'Last success',
      last_delivery_at === null ? 'None yet' : <Time key="last" at={last_delivery_at} />,
    ] as const,
    [
      'Signing secret',
      <code key="secret" className="font-mono">
        {webhook.secret_hint}
      </code>,
    ] as const,
    previous_secret_expires_at !== null &&
      (['Previous secret expires', <Time key="old" at={previous_secret_expires_at} />] as const),
    ['Created', <Time key="created" at={webhook.created_at} />] as const,
    ['Endpoint ID', <Copyable key="id" text={webhook.id} label="Copy endpoint ID" />] as const,
  ]
}
