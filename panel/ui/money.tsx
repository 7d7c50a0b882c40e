import { classes } from './classes.ts'

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
/** Deposits and withdrawals have up to six decimals, which must not be rounded away. */
const exact_dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
})

export function formatUsd(amount_usd: number): string {
  // The negative of zero would be shown as "-$0.00".
  const amount = amount_usd === 0 ? 0 : amount_usd
  return hasWholeCents(amount) ? dollars.format(amount) : exact_dollars.format(amount)
}

const compact_dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumFractionDigits: 1,
})

/**
 * For the axis of a chart, which has room for ten characters: "$1.5M". Below a thousand it has all
 * cents: "$0.50", not "$0.5".
 */
export const formatCompactUsd = (amount_usd: number): string =>
  amount_usd < 1_000 && !Number.isInteger(amount_usd)
    ? formatUsd(amount_usd)
    : compact_dollars.format(amount_usd)

const hasWholeCents = (amount: number) => Math.abs(amount * 100 - Math.round(amount * 100)) < 1e-6

export function formatMoney(amount: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amount)
}

type Props = {
  usd: number
  /** Adds a plus sign and green color to credits: for changes, not for balances. */
  signed?: boolean
  className?: string
}

export function Money({ usd, signed = false, className }: Props) {
  const sign = signed && usd > 0 ? '+' : ''
  return (
    <span className={classes('num whitespace-nowrap', signed && usd > 0 && 'text-good', className)}>
      {sign}
      {formatUsd(usd).replace('-', '−')}
    </span>
  )
}

/** A comma is accepted only before three digits: "25,50" would otherwise be read as 2550. */
export const USD_PATTERN = String.raw`(\d+|\d{1,3}(,\d{3})+)([.]\d{1,6})?`
const usd_text = new RegExp(`^${USD_PATTERN}$`)

/** Parses the text of a MoneyField; null if it is not an amount. */
export function parseUsd(text: string): number | null {
  const trimmed = text.trim()
  return usd_text.test(trimmed) ? Number(trimmed.replaceAll(',', '')) : null
}
