import { lazy, Suspense, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { BackLink } from '#panel/ui/back_link.tsx'
import { humanize } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Copyable } from '#panel/ui/copy.tsx'
import { Gavel } from '#panel/ui/icons.ts'
import { formatMoney, Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, type DescriptionRow, PageHeader, Section } from '#panel/ui/section.tsx'
import { Skeleton } from '#panel/ui/states.tsx'
import { categoryName } from '#panel/words/categories.ts'
import { countryName } from '#panel/words/countries.ts'
import { merchantName } from '#panel/words/merchant_name.ts'
import { DeclineReason } from './transaction/decline_reason.tsx'
import { IsoMessage } from './transaction/iso_message.tsx'
import {
  findDisputableCapture,
  findDisputeId,
  PurchaseTimeline,
} from './transaction/purchase_timeline.tsx'
import { useRelated } from './transaction/related.ts'
import { Amount } from './transactions/amount.tsx'
import { useCardNames } from './transactions/card_names.ts'
import { isPurchase } from './transactions/purchase.ts'
import { PurchaseStatus } from './transactions/purchase_cells.tsx'

const FileDispute = lazy(() =>
  import('./disputes/file_dispute.tsx').then(({ FileDispute: form }) => ({ default: form })),
)

export function TransactionPage({ id }: { id: string }) {
  const query = useOperationQuery('get_transaction', { id })
  return (
    <>
      <BackLink href="/transactions">Transactions</BackLink>
      <QueryBoundary query={query}>
        {(transaction) => <Details transaction={transaction} />}
      </QueryBoundary>
    </>
  )
}

function Details({ transaction }: { transaction: Transaction }) {
  const related = useRelated(transaction)
  // The list opens a charge this way when it was asked for one to dispute.
  const [is_disputing, setDisputing] = useState(useSearchParams()[0].has('dispute'))
  const disputable = findDisputableCapture(transaction, related)
  const dispute_id = findDisputeId(transaction, related)
  return (
    <>
      <PageHeader
        title={merchantName(transaction)}
        description={
          <span className="flex flex-wrap items-center gap-2">
            <span className="text-lg text-ink">
              <Amount row={transaction} className="font-semibold" />
            </span>
            <PurchaseStatus row={purchaseOf(transaction, related)} />
          </span>
        }
        action={
          <>
            {dispute_id !== undefined && (
              <Button asChild>
                <Link href={`/disputes/${dispute_id}`}>View dispute</Link>
              </Button>
            )}
            {disputable !== undefined && (
              <Button onClick={() => setDisputing(true)}>
                <Gavel /> Dispute charge
              </Button>
            )}
          </>
        }
      />
      <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
        <div className="min-w-0 space-y-4">
          {transaction.type === 'decline' && <DeclineReason transaction={transaction} />}
          <Section title="Timeline">
            <PurchaseTimeline transaction={transaction} related={related} />
          </Section>
          <IsoMessage id={transaction.id} />
        </div>
        <DetailsSection transaction={transaction} />
      </div>
      <Suspense fallback={<Skeleton />}>
        {is_disputing && disputable !== undefined && (
          <FileDispute transaction={disputable} onClose={() => setDisputing(false)} />
        )}
      </Suspense>
    </>
  )
}

/** A refund has its own state; the other events have that of their purchase, as in the list. */
function purchaseOf(transaction: Transaction, related: readonly Transaction[]): Transaction {
  if (transaction.type === 'refund') return transaction
  return related.find(isPurchase) ?? transaction
}

const entry_modes: Readonly<Record<Transaction['entry_mode'], string>> = {
  chip: 'Chip',
  contactless: 'Contactless',
  swipe: 'Magnetic stripe',
  keyed: 'Card number typed in',
  ecommerce: 'Online',
  credential_on_file: 'Saved card',
}

/** Terminals send names in capitals, and online shops send ONLINE instead of a city. */
function cityOf({ merchant_city: city }: Transaction): string | null {
  if (city === null || city === 'ONLINE') return null
  if (city !== city.toUpperCase()) return city
  return city.toLowerCase().replaceAll(/(?<!\p{L})\p{L}/gu, (first) => first.toUpperCase())
}

function DetailsSection({ transaction }: { transaction: Transaction }) {
  const card_names = useCardNames()
  const { three_ds } = transaction
  const { merchant_country: country } = transaction
  const place = [cityOf(transaction), country === null ? null : countryName(country)]
    .filter(Boolean)
    .join(', ')
  const rows: (DescriptionRow | false)[] = [
    ['Type', humanize(transaction.type)],
    [
      'Card',
      <Link key="card" href={`/cards/${transaction.card_id}`} className="text-accent underline">
        {card_names.of(transaction.card_id)}
      </Link>,
    ],
    ['Amount', formatMoney(transaction.amount, transaction.currency)],
    transaction.currency !== 'USD' && [
      'Amount in USD',
      <Money key="usd" usd={transaction.amount_usd} />,
    ],
    transaction.fx_rate !== null && ['Exchange rate', transaction.fx_rate],
    transaction.fee_usd > 0 && ['Fee', <Money key="fee" usd={transaction.fee_usd} />],
    ['Category', `${categoryName(transaction.mcc)} (${transaction.mcc})`],
    place !== '' && ['Location', place],
    ['Payment method', `${entry_modes[transaction.entry_mode]}${walletSuffix(transaction)}`],
    three_ds !== null && [
      '3-D Secure',
      three_ds.result === 'none' ? 'Not used' : humanize(three_ds.result),
    ],
    ['Network', humanize(transaction.network)],
    transaction.decline_code !== null && [
      'Decline code',
      <code key="code" className="font-mono text-sm wrap-anywhere">
        {transaction.decline_code}
      </code>,
    ],
    transaction.authorization_code !== null && [
      'Authorization code',
      transaction.authorization_code,
    ],
    transaction.retrieval_reference_number !== null && [
      'Reference number',
      transaction.retrieval_reference_number,
    ],
    ['Transaction ID', <Copyable key="id" text={transaction.id} label="Copy transaction ID" />],
  ]
  return (
    <Section title="Details">
      <DescriptionList rows={rows} />
    </Section>
  )
}

const walletSuffix = ({ wallet }: Transaction): string =>
  wallet === null ? '' : ` with ${wallet === 'apple_pay' ? 'Apple Pay' : 'Google Pay'}`
