import { Link } from 'wouter'
import type { Column } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'

/** To the page of the customer that a row belongs to. */
export function AccountLink({ account_id }: { account_id: string }) {
  return (
    <Link href={`/accounts/${account_id}`} className="text-accent underline">
      View account
    </Link>
  )
}

export const customer_column: Column<{ account_id: string }> = {
  title: 'Customer',
  wide_only: true,
  cell: ({ account_id }) => <AccountLink account_id={account_id} />,
}

type RowOfAccount = { account_id: string; created_at: string }

/** The time and the customer of a row, where a phone has no room for their columns. */
export function PhoneNote({ row: { account_id, created_at } }: { row: RowOfAccount }) {
  return (
    <span className="num block text-sm text-soft md:hidden">
      <Time at={created_at} /> · <AccountLink account_id={account_id} />
    </span>
  )
}
