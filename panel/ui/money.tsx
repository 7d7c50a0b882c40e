import { classes } from './classes.ts'

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
/** Deposits and withdrawals go to the millionth; a rounded one would be wrong. */
const exact_dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
})

export function formatUsd(amount_usd: number): string {
  return isWhole(amount_usd) ? dollars.format(amount_usd) : exact_dollars.format(amount_usd)
}

const isWhole = (amount: number) => Math.abs(amount * 100 - Math.round(amount * 100)) < 1e-6

export function formatMoney(amount: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amount)
}

type Props = {
  usd: number
  /** With its sign, green when it came in: for changes, not for balances. */
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

/** What somebody typed into a MoneyField; null where it is no amount. */
export function parseUsd(text: string): number | null {
  const plain = text.trim().replaceAll(',', '')
  return /^\d+(\.\d{1,6})?$/.test(plain) ? Number(plain) : null
}
