import type { Transaction } from '#contract/transactions.ts'
import { Money } from '#panel/ui/money.tsx'

/** Credits get a plus sign; amounts that were never charged are struck through. */
export function Amount({ row }: { row: Transaction }) {
  const is_void = ['declined', 'reversed', 'expired'].includes(row.status)
  if (row.direction === 'credit' && !is_void) return <Money usd={row.amount_usd} signed />
  return (
    <Money usd={row.amount_usd} className={is_void ? 'text-soft line-through' : 'font-medium'} />
  )
}
