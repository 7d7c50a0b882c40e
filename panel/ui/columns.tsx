import { Money } from './money.tsx'
import type { Column } from './table.tsx'
import { Time } from './time.tsx'

/** Columns that many lists have. */

export const amount_column: Column<{ amount_usd: number | null }> = {
  title: 'Amount',
  right: true,
  sortKey: ({ amount_usd }) => amount_usd,
  cell: ({ amount_usd }) => (amount_usd === null ? '' : <Money usd={amount_usd} />),
}

/** The time of creation under another name; phones have no room for it. */
export const createdColumn = (title: string): Column<{ created_at: string }> => ({
  title,
  wide_only: true,
  sortKey: ({ created_at }) => created_at,
  cell: ({ created_at }) => <Time at={created_at} />,
})
