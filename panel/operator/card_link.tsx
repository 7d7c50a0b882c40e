import { Link } from 'wouter'

type Props = { account_id: string; card_id: string }

/** To the card that a row belongs to, in the list of cards. */
export function CardLink({ account_id, card_id }: Props) {
  return (
    <Link
      href={`/cards?${new URLSearchParams({ account_id, card_id })}`}
      className="inline-block max-md:py-1 text-sm text-accent underline"
    >
      View card
    </Link>
  )
}
