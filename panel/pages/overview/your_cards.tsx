import { Link } from 'wouter'
import type { Card } from '#contract/cards.ts'
import { CardSparkline } from '#panel/pages/card/card_spending.tsx'
import { useOperationQuery } from '#panel/queries.ts'
import { Status } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { cardColor } from '#panel/ui/card_color.ts'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { classes } from '#panel/ui/classes.ts'
import { CreditCard } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState, ErrorState, Skeleton } from '#panel/ui/states.tsx'

export function YourCards() {
  const cards = useOperationQuery('list_cards', { status: 'active,frozen', limit: 50 })
  const all = (
    <Link href="/cards" className="text-sm font-medium text-accent hover:underline">
      View all
    </Link>
  )
  const issue = (
    <Button asChild>
      <Link href="/cards?issue">Issue card</Link>
    </Button>
  )
  return (
    <Section title="Cards" action={all} flush>
      {cards.data === undefined ? (
        cards.error === null ? (
          <Skeleton className="m-4 h-32" />
        ) : (
          <ErrorState problem={cards.error} retry={() => void cards.refetch()} />
        )
      ) : cards.data.data.length === 0 ? (
        <EmptyState icon={CreditCard} title="No cards yet" action={issue}>
          Virtual cards are ready to use immediately.
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line">
          {mainCards(cards.data.data).map((card) => (
            <CardLine key={card.id} card={card} />
          ))}
        </ul>
      )}
    </Section>
  )
}

const SHOWN_MAX = 6

/** Newest first. Single-use cards come last: an agent may issue several a day. */
const mainCards = (cards: readonly Card[]): Card[] =>
  cards
    .toSorted((one, other) => Number(isSingleUse(one)) - Number(isSingleUse(other)))
    .slice(0, SHOWN_MAX)

const isSingleUse = ({ usage }: Card) => usage === 'single_use'

function CardLine({ card }: { card: Card }) {
  return (
    <li>
      <Link
        href={`/cards/${card.id}`}
        className="flex items-center gap-3 px-4 py-2.5 hover:bg-hover"
      >
        <span aria-hidden className={classes('h-6 w-9 shrink-0 rounded', cardColor(card))} />
        <span className="min-w-0 flex-1">
          <span className="flex items-center gap-2">
            <span className="truncate font-medium">{cardTitle(card)}</span>
            {card.status !== 'active' && <Status of={card.status} />}
          </span>
          <span className="num block text-sm text-soft capitalize">
            {card.brand} ·· {card.last4}
          </span>
        </span>
        <span className="w-24 max-sm:hidden">
          <CardSparkline card_id={card.id} />
        </span>
        <Money usd={card.balance_usd} className="min-w-20 text-right font-medium" />
      </Link>
    </li>
  )
}
