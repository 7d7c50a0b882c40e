import type { Transaction } from '#contract/transactions.ts'
import { classes } from '#panel/ui/classes.ts'
import { Money } from '#panel/ui/money.tsx'

type Props = { row: Transaction; className?: string }

/** Credits get a plus sign; amounts that were never charged are struck through. */
export function Amount({ row, className = '' }: Props) {
  const is_void = ['declined', 'reversed', 'expired'].includes(row.status)
  if (row.direction === 'credit' && !is_void) {
    return <Money usd={row.amount_usd} signed className={className} />
  }
  return (
    <Money
      usd={row.amount_usd}
      className={classes(is_void ? 'text-soft line-through' : 'font-medium', className)}
    />
  )
}
