import { useState } from 'react'
import { Link } from 'wouter'
import type { Topup } from '#contract/topups.ts'
import { useAct, useRead } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Confirm } from '#panel/ui/confirm.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { BackLink, One } from '#panel/ui/one.tsx'
import { Facts, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { toast } from '#panel/ui/toast.tsx'
import { Progress } from './topups/progress.tsx'
import { SendHere } from './topups/send_here.tsx'

/** Blocks come every few seconds and tell nobody. */
const LOOK_MS = 3_000

export function TopupPage({ id }: { id: string }) {
  const topup = useRead('get_topup', { id }, { every_ms: LOOK_MS })
  return (
    <>
      <BackLink href="/topups">Top-ups</BackLink>
      <One read={topup}>{(found) => <Shown topup={found} />}</One>
    </>
  )
}

function Shown({ topup }: { topup: Topup }) {
  const is_awaited = topup.status === 'awaiting'
  return (
    <>
      <PageHeader
        title={
          <span className="flex items-center gap-3">
            <span>
              Top-up of <Money usd={topup.amount_usd} />
            </span>
            <Status of={topup.status} />
          </span>
        }
        tab={`Top-up of ${formatUsd(topup.amount_usd)}`}
        {...(is_awaited && { action: <CallOff topup={topup} /> })}
      />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_24rem]">
        {is_awaited ? <SendHere topup={topup} /> : <Outcome topup={topup} />}
        <div className="space-y-4">
          <Section title="Progress">
            <Progress topup={topup} />
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
  confirming: 'The transfer was seen. It is credited when it cannot be undone any more.',
  completed: 'It is in your balance.',
  cancelled: 'This top-up was called off. What still arrives at its address is credited anyway.',
  error: 'It could not be settled. Open a ticket and we will look into it.',
}

const reasons: Readonly<Record<string, string>> = {
  expired: 'The window closed before a transfer came. What still arrives is credited anyway.',
  below_minimum: 'Less than the smallest deposit has arrived. Send the rest to the same address.',
  kill_switch: 'Deposits are stopped at the moment. The money is safe and will be looked at.',
  screening: 'The sender is being looked at. The money is safe.',
}

function Outcome({ topup }: { topup: Topup }) {
  const sentence = reasons[topup.status_reason ?? ''] ?? outcomes[topup.status] ?? ''
  const usd = topup.status === 'completed' ? topup.credited_usd : topup.received_usd
  return (
    <Section>
      <div className="py-8 text-center">
        <p className="text-2xl font-semibold tracking-tight">
          <Money usd={usd} />
        </p>
        <p className="mx-auto mt-2 max-w-sm text-soft">{sentence}</p>
        {topup.status === 'completed' && (
          <Button kind="main" asChild className="mt-5">
            <Link href="/cards?issue">Issue a card with it</Link>
          </Button>
        )}
      </div>
    </Section>
  )
}

function Details({ topup }: { topup: Topup }) {
  return (
    <Facts
      rows={[
        ['Asset', `${topup.asset} on ${topup.chain.toUpperCase()}`],
        ['Received', <Money key="received" usd={topup.received_usd} />],
        ['Credited', <Money key="credited" usd={topup.credited_usd} />],
        ['Asked for', <Time key="asked" at={topup.created_at} />],
        ['Address', <Copyable key="to" text={topup.deposit_address} label="Copy the address" />],
        ...topup.txids.map(
          (txid) => ['Transfer', <Copyable key={txid} text={txid} label="Copy its id" />] as const,
        ),
      ]}
    />
  )
}

function CallOff({ topup }: { topup: Topup }) {
  const [is_asking, setAsking] = useState(false)
  const cancel_topup = useAct('cancel_topup', {
    done: () => {
      setAsking(false)
      toast('Top-up called off.')
    },
  })
  return (
    <>
      <Button onClick={() => setAsking(true)}>Call off</Button>
      <Confirm
        open={is_asking}
        onOpenChange={setAsking}
        title="Call off this top-up?"
        verb="Call it off"
        danger
        busy={cancel_topup.isPending}
        problem={cancel_topup.error}
        onConfirm={() => cancel_topup.mutate({ id: topup.id })}
      >
        <p>
          Nothing has arrived of {formatUsd(topup.amount_usd)}. A transfer that is already on its
          way is still credited.
        </p>
      </Confirm>
    </>
  )
}
