import { Link } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { Badge, humanize, Status } from '#panel/ui/badge.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, type DescriptionRow, PageHeader, Section } from '#panel/ui/section.tsx'
import { Tabs } from '#panel/ui/tabs.tsx'
import { Time } from '#panel/ui/time.tsx'
import { usage_names } from '#panel/words/card_usage.ts'
import { CardActions } from './card/card_actions.tsx'
import { CardName } from './card/card_name.tsx'
import { CardSpending } from './card/card_spending.tsx'
import { CardTransactions } from './card/card_transactions.tsx'
import { Limits } from './card/limits.tsx'
import { MoveMoney } from './card/move_money.tsx'
import { Reveal } from './card/reveal.tsx'
import { Rules } from './card/rules.tsx'
import { ShippingStatus } from './card/shipping_status.tsx'
import { CardUsage } from './card/usage.tsx'

export function CardPage({ id }: { id: string }) {
  const card = useOperationQuery('get_card', { id })
  return (
    <>
      <BackLink href="/cards">Cards</BackLink>
      <QueryBoundary query={card}>{(found) => <CardDetails card={found} />}</QueryBoundary>
    </>
  )
}

function CardDetails({ card }: { card: Card }) {
  const tabs = [
    { value: 'spent', title: 'Transactions', content: <CardTransactions card={card} /> },
    { value: 'limits', title: 'Limits and rules', content: <LimitsAndRules card={card} /> },
    { value: 'details', title: 'Details', content: <Details card={card} /> },
  ]
  return (
    <>
      <PageHeader
        title={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <CardName card={card} /> <Status of={card.status} />
          </span>
        }
        tab={cardTitle(card)}
        action={<CardActions card={card} />}
      />
      <div className="grid items-start gap-6 lg:grid-cols-[22rem_1fr]">
        <div className="min-w-0 space-y-4">
          <Reveal card={card} />
          <Section>
            <CardBalance card={card} />
          </Section>
          <CardSpending card={card} />
          <CardUsage card={card} />
          {card.shipping !== null && <ShippingStatus shipping={card.shipping} />}
        </div>
        <div className="min-w-0">
          <Tabs label="Card" tabs={tabs} />
        </div>
      </div>
    </>
  )
}

function CardBalance({ card }: { card: Card }) {
  return (
    <>
      <div className="mb-4 flex items-end justify-between gap-4">
        <div>
          <p className="text-soft">Available</p>
          <p className="text-2xl font-semibold tracking-tight">
            <Money usd={card.balance_usd} />
          </p>
        </div>
        {card.held_usd > 0 && (
          <p className="text-right text-sm text-soft">
            On hold
            <br />
            <Money usd={card.held_usd} className="text-ink" />
          </p>
        )}
      </div>
      {(card.status !== 'cancelled' || card.balance_usd > 0) && <MoveMoney card={card} />}
    </>
  )
}

function LimitsAndRules({ card }: { card: Card }) {
  return (
    <div className="space-y-4">
      <Limits card={card} />
      <Rules card={card} kind="mcc" />
      <Rules card={card} kind="geo" />
    </div>
  )
}

function merchantRows({ merchant_lock }: Card): DescriptionRow[] {
  if (merchant_lock === null) return []
  const { id, name } = merchant_lock
  return [['Merchant', name], ...(id === null ? [] : [['Merchant ID', id] as const])]
}

const walletStatus = (status: string) =>
  status === 'unsupported' ? 'Not available' : humanize(status)

const freezers = { owner: 'You', agent: 'An agent', admin: 'An administrator' } as const

const cancel_reasons: Readonly<Record<NonNullable<Card['cancel_reason']>, string>> = {
  requested: 'Canceled on request',
  replaced: 'Replaced by a new card',
  lost: 'Lost',
  stolen: 'Stolen',
  admin: 'Canceled by an administrator',
  expired: 'Expired',
  used: 'Used for its one purchase',
}

function Details({ card }: { card: Card }) {
  const wallets = { apple_pay: 'Apple Pay', google_pay: 'Google Pay' } as const
  const linkedCard = (name: string, id: string | null) =>
    id === null
      ? []
      : [
          [
            name,
            <Link key={id} href={`/cards/${id}`} className="text-accent underline">
              View card
            </Link>,
          ] as const,
        ]
  return (
    <Section>
      <DescriptionList
        rows={[
          ['Card ID', <Copyable key="id" text={card.id} label="Copy card ID" />],
          ['Network', card.brand === 'visa' ? 'Visa' : 'Mastercard'],
          [
            'BIN',
            <span key="bin" className="num">
              {card.bin}
            </span>,
          ],
          ['Type', humanize(card.type)],
          ...Object.entries(wallets).map(
            ([key, name]) =>
              [
                name,
                <Badge key={key}>{walletStatus(card.wallet[key as keyof typeof wallets])}</Badge>,
              ] as const,
          ),
          ['Works for', usage_names[card.usage]],
          ...merchantRows(card),
          ...(card.valid_until === null
            ? []
            : [['Valid until', <Time key="valid" at={card.valid_until} />] as const]),
          ['Issued', <Time key="issued" at={card.created_at} />],
          ...(card.frozen_by === null ? [] : [['Frozen by', freezers[card.frozen_by]] as const]),
          ...(card.cancel_reason === null
            ? []
            : [['Why it was canceled', cancel_reasons[card.cancel_reason]] as const]),
          ...linkedCard('Replaces', card.replaces),
          ...linkedCard('Replaced by', card.replaced_by),
        ]}
      />
    </Section>
  )
}
