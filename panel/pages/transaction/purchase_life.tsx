import { Ban, Check, Clock, Hourglass, Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { Time } from '#panel/ui/time.tsx'
import { type Step, Timeline } from '#panel/ui/timeline.tsx'

type Props = { transaction: Transaction; related: readonly Transaction[] }

/** authorized → captured → refunded, or what came between. */
export function PurchaseLife({ transaction, related }: Props) {
  const steps = related.flatMap((row) => stepsOf(row, row.id === transaction.id))
  return <Timeline label="Timeline" steps={steps} />
}

/** The capture that can be contested: this one, or the first of this purchase. */
export function disputableIn(
  { type, id }: Transaction,
  related: readonly Transaction[],
): Transaction | undefined {
  return related.find(
    (row) =>
      row.type === 'capture' && row.dispute_id === null && (type !== 'capture' || row.id === id),
  )
}

function stepsOf(row: Transaction, is_this: boolean): Step[] {
  const note = <StepNote row={row} is_this={is_this} />
  switch (row.type) {
    case 'authorization':
      return [{ title: 'Authorized', icon: Check, at: row.created_at, note }, ...endOfHold(row)]
    case 'capture':
      return [{ title: 'Captured', icon: Check, tone: 'good', at: row.created_at, note }]
    case 'refund':
      return [
        { title: 'Refunded', icon: Undo2, tone: 'good', at: row.created_at, note },
        ...endOfRefund(row),
      ]
    default:
      return [{ title: 'Declined', icon: Ban, tone: 'bad', at: row.created_at, note }]
  }
}

function endOfRefund({ status, updated_at }: Transaction): Step[] {
  if (status !== 'reversed') return []
  const note = 'The merchant reversed the refund.'
  return [{ title: 'Refund reversed', icon: Undo2, tone: 'bad', at: updated_at, note }]
}

function endOfHold(row: Transaction): Step[] {
  const { status, updated_at, expires_at, held_usd } = row
  if (status === 'reversed') {
    const note = 'The merchant released the hold. The money is back on the card.'
    return [{ title: 'Reversed', icon: Undo2, tone: 'neutral', at: updated_at, note }]
  }
  if (status === 'expired') {
    const note = 'The merchant didn’t collect the payment in time. The money is back on the card.'
    return [{ title: 'Expired', icon: Hourglass, tone: 'neutral', at: updated_at, note }]
  }
  if (held_usd === 0 || expires_at === null) return []
  const note = (
    <>
      {formatUsd(held_usd)} on hold until <Time at={expires_at} />.
    </>
  )
  return [{ title: 'Waiting for merchant', icon: Clock, at: null, note }]
}

const verbs: Record<Transaction['type'], string> = {
  authorization: 'placed on hold',
  capture: 'charged by the merchant',
  refund: 'returned to the card',
  decline: 'declined. No money moved',
}

function StepNote({ row, is_this }: { row: Transaction; is_this: boolean }) {
  return (
    <>
      <Money usd={row.amount_usd} className="text-ink" /> {verbs[row.type]}.{' '}
      {!is_this && (
        <Link href={`/transactions/${row.id}`} className="text-accent underline">
          View
        </Link>
      )}
    </>
  )
}
