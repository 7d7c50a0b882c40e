import type { ReactNode } from 'react'
import type { Card } from '#contract/cards.ts'
import { statusLabel } from './badge.tsx'
import { cardColor } from './card_color.ts'
import { classes } from './classes.ts'
import { Snowflake } from './icons.ts'

type CardFields = Pick<
  Card,
  'brand' | 'last4' | 'name' | 'status' | 'type' | 'exp_month' | 'exp_year'
>
type Props = { card: CardFields; className?: string; children?: ReactNode }

export const formatExpiry = ({
  exp_month,
  exp_year,
}: Pick<Card, 'exp_month' | 'exp_year'>): string =>
  `${String(exp_month).padStart(2, '0')}/${String(exp_year).slice(-2)}`

export const cardTitle = ({ name, last4 }: Pick<Card, 'name' | 'last4'>): string =>
  name ?? `Card ${last4}`

/** The title with the last digits, where cards of the same name must differ. */
export function cardLabel(card: Pick<Card, 'name' | 'last4'>): string {
  const title = cardTitle(card)
  return title.endsWith(card.last4) ? title : `${title} ·· ${card.last4}`
}

export function CardFace({ card, className, children }: Props) {
  const is_usable = card.status === 'active'
  return (
    <div
      className={classes(
        'relative flex aspect-[1.586] w-full flex-col justify-between overflow-hidden rounded-2xl p-5 text-white',
        cardColor(card),
        className,
      )}
    >
      <div className="flex items-start justify-between gap-3">
        <p className="min-w-0 truncate text-lg font-medium">{card.name ?? 'Florin'}</p>
        <p className="text-xs font-medium tracking-wide uppercase">{card.type}</p>
      </div>
      {children ?? (
        <p className="num flex items-center gap-3 font-mono text-lg tracking-widest">
          <span aria-hidden>•••• •••• ••••</span>
          <span className="sr-only">Card number ending in</span>
          {card.last4}
        </p>
      )}
      <div className="flex items-end justify-between">
        <p className="num font-mono text-sm">{formatExpiry(card)}</p>
        {is_usable ? (
          <BrandMark brand={card.brand} />
        ) : (
          <p className="flex items-center gap-1.5 font-medium">
            {card.status === 'frozen' && <Snowflake className="size-4" aria-hidden />}
            {statusLabel(card.status)}
          </p>
        )}
      </div>
    </div>
  )
}

/** Our own marks: the networks' logos need their permission. */
function BrandMark({ brand }: { brand: Card['brand'] }) {
  if (brand === 'visa') return <p className="text-lg font-bold tracking-tight italic">VISA</p>
  return (
    <p className="flex items-center gap-2 text-sm font-medium">
      <span className="flex" aria-hidden>
        <span className="size-5 rounded-full bg-[#d9482f]" />
        <span className="-ml-2 size-5 rounded-full bg-[#f0a63a] opacity-85" />
      </span>
      mastercard
    </p>
  )
}
