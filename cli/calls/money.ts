const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
})

/** `$12.50`; a chain's amounts have up to six decimals. */
export const formatUsd = (amount: number): string => dollars.format(amount)
