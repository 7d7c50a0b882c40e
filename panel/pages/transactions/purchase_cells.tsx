import { Link } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { useIsDisputed } from '#panel/pages/disputes/open_disputes.ts'
import { PurchaseTimeline } from '#panel/pages/transaction/purchase_timeline.tsx'
import { useRelated } from '#panel/pages/transaction/related.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { purchaseState, purchaseUsd } from './purchase.ts'

export function PurchaseStatus({ row }: { row: Transaction }) {
  return (
    <span className="inline-flex flex-wrap gap-1 max-md:justify-end">
      <Status of={purchaseState(row)} />
      <DisputedBadge row={row} />
    </span>
  )
}

/** Shown while the dispute is open; afterwards the amounts show its result. */
export function DisputedBadge({ row }: { row: Transaction }) {
  const isDisputed = useIsDisputed()
  return isDisputed(row) && <Badge tone="warn">Disputed</Badge>
}

/** A phone has no room for a column of its own for the status. */
export function AmountAndStatus({ row }: { row: Transaction }) {
  return (
    <>
      <PurchaseAmount row={row} />
      <span className="mt-0.5 block md:hidden">
        <PurchaseStatus row={row} />
      </span>
    </>
  )
}

/** The cost of a purchase, with the amount that came back. */
function PurchaseAmount({ row }: { row: Transaction }) {
  const state = purchaseState(row)
  const usd = purchaseUsd(row)
  if (row.type === 'refund' && state === 'refunded') return <Money usd={usd} signed />
  const is_void = ['declined', 'reversed', 'expired'].includes(state)
  return (
    <>
      <Money usd={usd} className={is_void ? 'text-soft line-through' : 'font-medium'} />
      {row.type !== 'refund' && row.refunded_usd > 0 && (
        <span className="num block text-sm whitespace-nowrap text-good">
          +{formatUsd(row.refunded_usd)} back
        </span>
      )}
    </>
  )
}

/** The events of a purchase, below its row. */
export function PurchaseEvents({ row }: { row: Transaction }) {
  const related = useRelated(row)
  return (
    <div className="px-4 py-3">
      <PurchaseTimeline transaction={row} related={related} />
      <Link href={`/transactions/${row.id}`} className="mt-3 inline-block text-accent underline">
        Details and ISO 8583 message
      </Link>
    </div>
  )
}
