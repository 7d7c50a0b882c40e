import type { Withdrawal } from '#contract/withdrawals.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Status } from '#panel/ui/badge.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Check, CircleX, Clock, Send } from '#panel/ui/icons.ts'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { type Step, Timeline } from '#panel/ui/timeline.tsx'

const REFETCH_MS = 3_000

/** New confirmations emit no activity event, so the page polls. */
export function WithdrawalPage({ id }: { id: string }) {
  const query = useOperationQuery('get_withdrawal', { id }, { refetchInterval: REFETCH_MS })
  return (
    <>
      <BackLink href="/withdrawals">Withdrawals</BackLink>
      <QueryBoundary query={query}>
        {(withdrawal) => <Details withdrawal={withdrawal} />}
      </QueryBoundary>
    </>
  )
}

function Details({ withdrawal }: { withdrawal: Withdrawal }) {
  return (
    <>
      <PageHeader
        title={
          <>
            <Money usd={withdrawal.amount_usd} /> withdrawal
          </>
        }
        tab={`${formatUsd(withdrawal.amount_usd)} withdrawal`}
        description={<WithdrawalStatus of={withdrawal} />}
      />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Section title="Timeline">
          <Timeline label="Timeline" steps={timelineSteps(withdrawal)} />
        </Section>
        <Section title="Details">
          <DescriptionList rows={detailRows(withdrawal)} />
        </Section>
      </div>
    </>
  )
}

const waiting_labels: Readonly<Record<string, string>> = {
  review: 'In review',
  account_suspended: 'On hold',
  transfer_mismatch: 'In review',
  nonce_taken: 'In review',
}

const waitingLabel = ({ status, status_reason }: Withdrawal): string | undefined =>
  status === 'pending' || status === 'broadcasted' ? waiting_labels[status_reason ?? ''] : undefined

export function WithdrawalStatus({ of: withdrawal }: { of: Withdrawal }) {
  return <Status of={withdrawal.status} label={waitingLabel(withdrawal)} />
}

const failures: Readonly<Record<string, string>> = {
  reverted: 'The blockchain rejected the transfer.',
  not_sent: 'The transfer could not be sent.',
  refused: 'We declined this withdrawal after a review.',
  screening: 'We can’t send to this address.',
}

function timelineSteps(withdrawal: Withdrawal): Step[] {
  const { status, status_reason, broadcasted_at, completed_at } = withdrawal
  const requested: Step = {
    title: 'Requested',
    icon: Clock,
    at: withdrawal.created_at,
    note: 'Deducted from your balance.',
  }
  const sent: Step = {
    title: broadcasted_at === null ? (waitingLabel(withdrawal) ?? 'Sending') : 'Sent',
    icon: Send,
    at: broadcasted_at,
    note: broadcasted_at === null ? waitingNote(status_reason) : confirmationsNote(withdrawal),
  }
  if (status === 'failed') {
    const reason = failures[status_reason ?? ''] ?? ''
    const note = `${reason} The full amount is back in your balance.`.trim()
    const failed: Step = {
      title: 'Failed',
      icon: CircleX,
      tone: 'bad',
      at: withdrawal.updated_at,
      note,
    }
    return broadcasted_at === null ? [requested, failed] : [requested, sent, failed]
  }
  const completed: Step = {
    title: completed_at === null ? 'Confirmation' : 'Completed',
    icon: Check,
    tone: 'good',
    at: completed_at,
  }
  return [requested, sent, completed]
}

const waiting_notes: Readonly<Record<string, string>> = {
  review: 'We’re reviewing this withdrawal.',
  account_suspended: 'Your account is suspended.',
  transfer_mismatch: 'We’re checking what arrived.',
  nonce_taken: 'We’re checking if it has to be sent again.',
}

const waitingNote = (reason: string | null) =>
  waiting_notes[reason ?? ''] ?? 'Usually sent within seconds.'

/** Once a transfer is final, the count says nothing and keeps growing. */
function confirmationsNote({
  status,
  status_reason,
  confirmations,
}: Withdrawal): string | undefined {
  if (status !== 'broadcasted') return undefined
  if (status_reason !== null) return waitingNote(status_reason)
  return confirmations === 1 ? '1 confirmation' : `${confirmations} confirmations`
}

/** A failed withdrawal costs nothing, and nothing arrives. */
function outcomeRows({ status, amount_usd, fee_usd, net_usd }: Withdrawal) {
  if (status === 'failed') {
    return [
      ['Returned', <Money key="returned" usd={amount_usd} className="font-medium" />] as const,
    ]
  }
  return [
    ['Fee', <Money key="fee" usd={fee_usd} />] as const,
    ['You receive', <Money key="net" usd={net_usd} className="font-medium" />] as const,
  ]
}

function detailRows(withdrawal: Withdrawal) {
  return [
    ['Amount', <Money key="amount" usd={withdrawal.amount_usd} />],
    ...outcomeRows(withdrawal),
    ['Asset', `${withdrawal.asset} on ${withdrawal.chain.toUpperCase()}`],
    ['To', <Copyable key="to" text={withdrawal.address} label="Copy address" />],
    [
      'Transaction hash',
      withdrawal.txid === null ? (
        withdrawal.status === 'failed' ? (
          'Not sent'
        ) : (
          'Not sent yet'
        )
      ) : (
        <Copyable key="txid" text={withdrawal.txid} label="Copy transaction hash" />
      ),
    ],
    ['Withdrawal ID', <Copyable key="id" text={withdrawal.id} label="Copy withdrawal ID" />],
  ] as const
}
