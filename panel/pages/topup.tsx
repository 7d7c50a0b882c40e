import { useState } from 'react'
import { Link } from 'wouter'
import type { Topup } from '#contract/topups.ts'
import { useOperationMutation, useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Button } from '#panel/ui/button.tsx'
import { ConfirmDialog } from '#panel/ui/confirm_dialog.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { DepositAddress } from './topups/deposit_address.tsx'
import { TopupProgress } from './topups/progress.tsx'
import { TopupStatus } from './topups/topup_status.tsx'

/** New confirmations emit no activity event, so the page polls. */
const REFETCH_MS = 3_000

export function TopupPage({ id }: { id: string }) {
  const topup = useOperationQuery('get_topup', { id }, { refetchInterval: REFETCH_MS })
  return (
    <>
      <BackLink href="/topups">Top-ups</BackLink>
      <QueryBoundary query={topup}>{(found) => <TopupDetails topup={found} />}</QueryBoundary>
    </>
  )
}

function TopupDetails({ topup }: { topup: Topup }) {
  const is_awaiting = topup.status === 'awaiting'
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <span>
              <Money usd={topup.amount_usd} /> top-up
            </span>
            <TopupStatus topup={topup} />
          </span>
        }
        tab={`${formatUsd(topup.amount_usd)} top-up`}
        {...(is_awaiting && { action: <CancelTopup topup={topup} /> })}
      />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_24rem]">
        {is_awaiting ? <DepositAddress topup={topup} /> : <Outcome topup={topup} />}
        <div className="space-y-4">
          <Section title="Progress">
            <TopupProgress topup={topup} />
          </Section>
          <Section title="Details">
            <Details topup={topup} />
          </Section>
        </div>
      </div>
    </>
  )
}

const outcomes: Readonly<Record<string, string>> = {
  confirming: 'We detected your transfer. We’ll credit it once it’s confirmed.',
  completed: 'Added to your balance.',
  cancelled: 'You canceled this top-up. Transfers that still arrive at this address are credited.',
  error: 'Something went wrong. Open a ticket and we’ll look into it.',
}

const reasons: Readonly<Record<string, string>> = {
  expired: 'No transfer arrived in time. Transfers that still arrive are credited.',
  below_minimum: 'The deposit is below the minimum. Send the rest to the same address.',
  kill_switch: 'Deposits were paused when it arrived. Your money is safe, and we’re reviewing it.',
  screening: 'We’re reviewing the sender. Your money is safe.',
}

function describeOutcome({ status, status_reason, payment_state, amount_usd }: Topup): string {
  if (status === 'completed' && payment_state === 'partial') {
    const requested = `You requested ${formatUsd(amount_usd)}.`
    return `Added to your balance. ${requested} Transfers that still arrive are credited too.`
  }
  return reasons[status_reason ?? ''] ?? outcomes[status] ?? ''
}

function Outcome({ topup }: { topup: Topup }) {
  const sentence = describeOutcome(topup)
  const usd = topup.status === 'completed' ? topup.credited_usd : topup.received_usd
  return (
    <Section>
      <div className="py-8 text-center">
        {usd > 0 && (
          <p className="text-2xl font-semibold tracking-tight">
            <Money usd={usd} />
          </p>
        )}
        <p className="mx-auto mt-2 max-w-sm text-soft">{sentence}</p>
        {topup.status === 'completed' && (
          <Button kind="main" asChild className="mt-5">
            <Link href="/cards?issue">Issue card</Link>
          </Button>
        )}
      </div>
    </Section>
  )
}

function Details({ topup }: { topup: Topup }) {
  return (
    <DescriptionList
      rows={[
        ['Asset', `${topup.asset} on ${topup.chain.toUpperCase()}`],
        ['Received', <Money key="received" usd={topup.received_usd} />],
        ['Credited', <Money key="credited" usd={topup.credited_usd} />],
        ['Created', <Time key="created" at={topup.created_at} />],
        [
          'Deposit address',
          <Copyable key="to" text={topup.deposit_address} label="Copy deposit address" />,
        ],
        ...topup.txids.map(
          (txid, at) =>
            [
              topup.txids.length === 1 ? 'Transaction hash' : `Transaction hash ${at + 1}`,
              <Copyable key={txid} text={txid} label="Copy transaction hash" />,
            ] as const,
        ),
      ]}
    />
  )
}

function CancelTopup({ topup }: { topup: Topup }) {
  const [is_dialog_open, setDialogOpen] = useState(false)
  const cancel_topup = useOperationMutation('cancel_topup', {
    onSuccess: () => {
      setDialogOpen(false)
      toast('Top-up canceled.')
    },
  })
  return (
    <>
      <Button onClick={() => setDialogOpen(true)}>Cancel top-up</Button>
      <ConfirmDialog
        open={is_dialog_open}
        onOpenChange={setDialogOpen}
        title="Cancel this top-up?"
        confirm_label="Cancel top-up"
        dismiss_label="Keep top-up"
        danger
        busy={cancel_topup.isPending}
        problem={cancel_topup.error}
        onConfirm={() => cancel_topup.mutate({ id: topup.id })}
      >
        <p>
          If you’ve already sent {formatUsd(topup.amount_usd)}, we’ll still credit it when it
          arrives.
        </p>
      </ConfirmDialog>
    </>
  )
}
