import { Link } from 'wouter'

/** To the page of the customer that a row belongs to. */
export function AccountLink({ account_id }: { account_id: string }) {
  return (
    <Link href={`/accounts/${account_id}`} className="text-accent underline">
      View account
    </Link>
  )
}
