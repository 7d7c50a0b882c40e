import type { Delivery, Webhook } from '#contract/webhooks.ts'
import { useOperationMutation } from '#panel/queries.ts'
import { humanize, Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Code } from '#panel/ui/code.tsx'
import { DottedName } from '#panel/ui/dotted_name.tsx'
import { RotateCw, Send } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const attempts = webhook.recent_deliveries ?? []
  return (
    <Section title="Recent deliveries" flush>
      {attempts.length === 0 ? (
        <EmptyState icon={Send} title="No deliveries yet">
          Events sent to this endpoint show up here with its responses.
        </EmptyState>
      ) : (
        <ul aria-label="Recent deliveries" className="divide-y divide-line">
          {attempts.map((attempt) => (
            <Attempt key={attempt.id} attempt={attempt} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Attempt({ attempt }: { attempt: Delivery }) {
  const replay_webhook = useOperationMutation('replay_webhook', {
    onSuccess: ({ status, response_status, error }) =>
      status === 'succeeded'
        ? toast(`Resent. The endpoint responded with ${response_status}.`)
        : toast(`Resend failed: ${error ?? response_status}.`, 'bad'),
  })
  const resend = () =>
    replay_webhook.mutate(
      { id: attempt.webhook_id, eid: attempt.event_id },
      { onError: ({ message }) => toast(message, 'bad') },
    )
  return (
    <li className="px-4 py-3">
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <Status of={attempt.status} />
            <DottedName of={attempt.event_type} />
          </p>
          <p className="num mt-1 text-sm text-soft">
            {deliverySummary(attempt)}, <Time at={attempt.created_at} />
          </p>
          <p className="font-mono text-xs break-all text-soft">{attempt.event_id}</p>
        </div>
        <Button size="small" busy={replay_webhook.isPending} onClick={resend}>
          {!replay_webhook.isPending && <RotateCw />}
          <span className="max-sm:sr-only">Resend</span>
          <span className="sr-only"> {attempt.event_type}</span>
        </Button>
      </div>
      {attempt.next_attempt_at !== null && (
        <p className="text-sm text-soft">
          Next attempt <Time at={attempt.next_attempt_at} />
        </p>
      )}
      {attempt.response_excerpt !== null && attempt.response_excerpt !== '' && (
        <details className="mt-1 text-sm">
          <summary className="text-soft">Response</summary>
          <Code wraps label="First 1 kB" text={attempt.response_excerpt} />
        </details>
      )}
    </li>
  )
}

function deliverySummary(attempt: Delivery): string {
  const outcome =
    attempt.response_status === null ? attempt.error : `HTTP ${attempt.response_status}`
  const duration = attempt.duration_ms === null ? null : `${attempt.duration_ms} ms`
  const attempt_label = attempt.trigger === 'replay' ? 'resent' : `attempt ${attempt.attempt}`
  return [humanize(attempt_label), outcome, duration].filter((part) => part !== null).join(', ')
}
