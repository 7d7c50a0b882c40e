import { Link } from 'wouter'
import type { Transaction } from '#contract/transactions.ts'
import { Ban, Check, Clock, Hourglass, Undo2 } from '#panel/ui/icons.ts'
import { formatUsd, Money } from '#panel/ui/money.tsx'
import { Time } from '#panel/ui/time.tsx'
import { type Step, Timeline } from '#panel/ui/timeline.tsx'

type Props = { transaction: Transaction; related: readonly Transaction[] }

export function PurchaseTimeline({ transaction, related }: Props) {
  const steps = related.flatMap((row) => timelineSteps(row, row.id === transaction.id))
  return <Timeline label="Timeline" steps={steps} />
}

/**
 * The capture that can be disputed: this transaction, or the first capture of the purchase. None
 * if all of it was refunded.
 */
export function findDisputableCapture(
  { type, id }: Transaction,
  related: readonly Transaction[],
): Transaction | undefined {
  return related.find(
    (row) =>
      row.type === 'capture' &&
      row.dispute_id === null &&
      row.refunded_usd < row.captured_usd &&
      (type !== 'capture' || row.id === id),
  )
}

/** The dispute about this transaction, or the first one about the purchase. */
export function findDisputeId(
  { type, dispute_id }: Transaction,
  related: readonly Transaction[],
): string | undefined {
  if (type !== 'authorization') return dispute_id ?? undefined
  return related.find((row) => row.dispute_id !== null)?.dispute_id ?? undefined
}

function timelineSteps(row: Transaction, is_current: boolean): Step[] {
  const note = <StepNote row={row} is_current={is_current} />
  switch (row.type) {
    case 'authorization':
      return [{ title: 'Authorized', icon: Check, at: row.created_at, note }, ...holdOutcome(row)]
    case 'capture':
      return [{ title: 'Captured', icon: Check, tone: 'good', at: row.created_at, note }]
    case 'refund':
      return [
        { title: 'Refunded', icon: Undo2, tone: 'good', at: row.created_at, note },
        ...refundOutcome(row),
      ]
    default:
      return [{ title: 'Declined', icon: Ban, tone: 'bad', at: row.created_at, note }]
  }
}

function refundOutcome({ status, updated_at }: Transaction): Step[] {
  if (status !== 'reversed') return []
  const note = 'The merchant reversed the refund.'
  return [{ title: 'Refund reversed', icon: Undo2, tone: 'bad', at: updated_at, note }]
}

function holdOutcome(row: Transaction): Step[] {
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

const step_notes: Record<Transaction['type'], string> = {
  authorization: 'placed on hold',
  capture: 'charged by the merchant',
  refund: 'returned to the card',
  decline: 'declined. No money moved',
}

function StepNote({ row, is_current }: { row: Transaction; is_current: boolean }) {
  return (
    <>
      <Money usd={row.amount_usd} className="text-ink" /> {step_notes[row.type]}.{' '}
      {!is_current && (
        <Link href={`/transactions/${row.id}`} className="text-accent underline">
          View
        </Link>
      )}
    </>
  )
}
