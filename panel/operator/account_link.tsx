import { Link } from 'wouter'
import { EmailAddress } from '#panel/ui/email_address.tsx'
import type { Column } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'
import type { OfAccount } from './shapes.ts'

/** To the page of the customer that a row belongs to. */
export function AccountLink({ of: { account_id, account_email } }: { of: OfAccount }) {
  return (
    <Link
      href={`/accounts/${account_id}`}
      className="inline-block max-md:py-1 text-accent underline"
    >
      <EmailAddress of={account_email} />
    </Link>
  )
}

export const customer_column: Column<OfAccount> = {
  title: 'Customer',
  wide_only: true,
  sortKey: ({ account_email }) => account_email,
  cell: (row) => <AccountLink of={row} />,
}

type PhoneNoteProps = { row: OfAccount & { created_at: string } }

/** The time and the customer of a row, where a phone has no room for their columns. */
export function PhoneNote({ row }: PhoneNoteProps) {
  return (
    <span className="num flex flex-wrap gap-x-2 text-sm text-soft md:hidden">
      <Time at={row.created_at} /> <AccountLink of={row} />
    </span>
  )
}
