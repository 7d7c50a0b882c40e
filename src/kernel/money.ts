import { assert } from './assert.ts'

/**
 * Money is a whole number of micro-dollars (1 USDT = 1 USD = 1,000,000 micros). This file is the
 * only one that knows decimals, and it never does arithmetic on floats: a JSON number is turned
 * into its decimal text, and the text into an integer.
 */
export type Micros = bigint

export const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)
export const greatest = (a: Micros, b: Micros): Micros => (a > b ? a : b)

/** The smallest amount of requests that take whole cents. */
export const CENT_MICROS: Micros = 10_000n

export const MICRO_DECIMALS = 6
const MICROS_PER_DOLLAR = 10n ** BigInt(MICRO_DECIMALS)
const MICROS_EXACT = Number(MICROS_PER_DOLLAR)

/** The digits of a JSON number's text with its exponent applied; null if it is not a number. */
export function decimalParts(
  text: string,
): { negative: boolean; whole: string; fraction: string } | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0')
  const at = Math.max(point, 0)
  return {
    negative: sign === '-',
    whole: padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0',
    fraction: withoutLastZeros(padded.slice(at)),
  }
}

/** A loop, because /0+$/ takes quadratic time on a long run of zeros followed by a digit. */
function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** The number of decimal places of a JSON number: 1.50 has one, 1e-3 has three. */
export function decimalsOf(value: number): number {
  const parts = decimalParts(String(value))
  assert(parts !== null, 'only finite numbers have decimals')
  return parts.fraction.length
}

/** Exact for numbers with at most six decimal places, which input validation guarantees. */
export function microsFromUsd(usd: number): Micros {
  const parts = decimalParts(String(usd))
  assert(
    parts !== null && parts.fraction.length <= MICRO_DECIMALS,
    'an amount has at most 6 decimals',
  )
  const micros = BigInt(parts.whole + parts.fraction.padEnd(MICRO_DECIMALS, '0'))
  return parts.negative ? -micros : micros
}

export function decimalFromMicros(micros: Micros): string {
  const size = micros < 0n ? -micros : micros
  const fraction = (size % MICROS_PER_DOLLAR)
    .toString()
    .padStart(MICRO_DECIMALS, '0')
    .replace(/0+$/, '')
  const whole = (size / MICROS_PER_DOLLAR).toString()
  return `${micros < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** At least two decimal places, and more only if needed. */
export function dollarsFromMicros(micros: Micros): string {
  const [whole = '', fraction = ''] = decimalFromMicros(micros).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}

/** With thousands separators: 1,234.50. */
export function groupThousands(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.')
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.')
}

/** As customers see it: $1,234.50. */
export function formatUsd(micros: Micros): string {
  const dollars = dollarsFromMicros(micros < 0n ? -micros : micros)
  return `${micros < 0n ? '-' : ''}$${groupThousands(dollars)}`
}

/** The largest amount: up to here a JSON number keeps every micro-dollar. */
export const USD_MAX = 2 ** 33

/** True for a number of dollars that microsFromUsd takes and that is not negative. */
export const isUsdAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= USD_MAX && decimalsOf(value) <= MICRO_DECIMALS

/**
 * The JSON number of an amount. Below USD_MAX, 8.5 billion, it keeps every digit: both sides of the
 * division are exact, so its one rounding is that of the decimal text.
 */
export function usdFromMicros(micros: Micros): number {
  const exact = Number(micros)
  return Number.isSafeInteger(exact) ? exact / MICROS_EXACT : Number(decimalFromMicros(micros))
}
