import type { Transaction } from '#contract/transactions.ts'
import { Money } from '#panel/ui/money.tsx'

/** A refund comes in, a decline moved nothing; all else went out. */
export function Amount({ row }: { row: Transaction }) {
  if (row.direction === 'credit') return <Money usd={row.amount_usd} signed />
  const is_void = ['declined', 'reversed', 'expired'].includes(row.status)
  return (
    <Money usd={row.amount_usd} className={is_void ? 'text-soft line-through' : 'font-medium'} />
  )
}
