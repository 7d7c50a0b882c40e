import { Link } from 'wouter'
import type { Dispute } from '#contract/disputes.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Status } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Flag, Gavel, MessageSquare } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, type DescriptionRow, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { type Step, Timeline } from '#panel/ui/timeline.tsx'
import { merchantText } from '#panel/words/merchant_name.ts'
import { AddEvidence } from './dispute/add_evidence.tsx'
import { EvidenceList } from './dispute/evidence_list.tsx'
import { reason_labels } from './disputes/reasons.ts'

export function DisputePage({ id }: { id: string }) {
  const query = useOperationQuery('get_dispute', { id })
  return (
    <>
      <BackLink href="/disputes">Disputes</BackLink>
      <QueryBoundary query={query}>{(dispute) => <Details dispute={dispute} />}</QueryBoundary>
    </>
  )
}

function Details({ dispute }: { dispute: Dispute }) {
  const transaction = useOperationQuery('get_transaction', { id: dispute.transaction_id }).data
  return (
    <>
      <PageHeader
        title={transaction === undefined ? 'Dispute' : `Dispute with ${merchantText(transaction)}`}
        description={
          <span className="flex flex-wrap items-center gap-2">
            <Money usd={dispute.amount_usd} className="text-lg font-semibold text-ink" />
            <Status of={dispute.outcome ?? dispute.status} />
          </span>
        }
      />
      <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
        <div className="min-w-0 space-y-4">
          <Section title={reason_labels[dispute.reason]}>
            <p className="break-words whitespace-pre-wrap">{dispute.explanation}</p>
          </Section>
          <Section title="Evidence" flush>
            <EvidenceList dispute={dispute} />
            {dispute.status !== 'closed' && <AddEvidence dispute={dispute} />}
          </Section>
        </div>
        <div className="min-w-0 space-y-4">
          <Section title="Timeline">
            <Timeline label="Timeline" steps={timelineSteps(dispute)} />
          </Section>
          <Section title="Details">
            <DescriptionList rows={detailRows(dispute)} />
          </Section>
        </div>
      </div>
    </>
  )
}

function timelineSteps(dispute: Dispute): Step[] {
  const { response, status, outcome } = dispute
  const credit = <Money usd={dispute.amount_usd} className="text-ink" />
  const filed: Step = {
    title: 'Filed',
    icon: Flag,
    at: dispute.created_at,
    note: <>{credit} credited to your balance while we review the dispute.</>,
  }
  const answered: Step = {
    title: response === null ? 'Merchant response' : 'Merchant responded',
    icon: MessageSquare,
    at: response?.received_at ?? null,
    ...(response !== null && { note: <q className="break-words">{response.text}</q> }),
  }
  const decided: Step = {
    title: outcome === null ? 'Decision' : outcome === 'won' ? 'You won' : 'You lost',
    icon: Gavel,
    at: dispute.resolved_at,
    tone: outcome === 'won' ? 'good' : 'bad',
    note: decisionNote(dispute),
  }
  // A dispute can close before the merchant responds.
  return status === 'closed' && response === null ? [filed, decided] : [filed, answered, decided]
}

function decisionNote({ outcome, closed_by }: Dispute): string {
  if (closed_by === 'refund') {
    return 'The merchant refunded you, so we reversed the credit.'
  }
  if (outcome === 'won') return 'You keep the credit.'
  if (outcome === 'lost') return 'We reversed the credit.'
  return 'If you win, you keep the credit. If you lose, we reverse it.'
}

function detailRows(dispute: Dispute): (DescriptionRow | false)[] {
  return [
    [
      'Transaction',
      <Link
        key="purchase"
        href={`/transactions/${dispute.transaction_id}`}
        className="text-accent underline"
      >
        View transaction
      </Link>,
    ],
    ['Filed', <Time key="filed" at={dispute.created_at} has_date />],
    dispute.status !== 'closed' && [
      'Evidence due',
      <Time key="due" at={dispute.evidence_due_at} has_date />,
    ],
    [creditLabel(dispute), <Money key="credit" usd={dispute.provisional_credit_usd} />],
    ['Dispute ID', <Copyable key="id" text={dispute.id} label="Copy dispute ID" />],
  ]
}

/** Only the decision makes the credit final. */
function creditLabel({ outcome }: Dispute): string {
  if (outcome === null) return 'Provisional credit'
  return outcome === 'won' ? 'Credit' : 'Reversed credit'
}
