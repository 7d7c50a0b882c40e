import type { Charge } from '#domain/authorizations/request.ts'
import { type Currency, currencyOfLetters, currencyOfNumber } from '#iso8583/currencies.ts'
import type { Micros } from '#kernel/money.ts'

const USD = 'USD'
const MICROS_PER_CENT = 10_000n

type Fields = Readonly<Record<number, string>>

/**
 * Element 4 in the currency of element 49, and the USD amount: the same, or element 6 if its
 * currency (element 51) is USD. Otherwise the USD amount is unknown, unless it is zero.
 */
export function chargeOf(fields: Fields): Charge {
  const minor = BigInt(fields[4] ?? '0')
  const currency = currencyOf(fields[49])
  return { minor, currency, micros: microsOf(fields, minor), fx_rate: rateOf(fields) }
}

/** Elements 49 and 51 may be three digits or three letters. */
function currencyOf(code = ''): Currency['letters'] | null {
  return (currencyOfNumber(code) ?? currencyOfLetters(code))?.letters ?? null
}

function microsOf(fields: Fields, minor: bigint): Micros | null {
  // Zero needs no rate: it must not await an operator, who could only enter more.
  if (minor === 0n) return 0n
  if (currencyOf(fields[49]) === USD) return minor * MICROS_PER_CENT
  if (fields[6] === undefined || currencyOf(fields[51]) !== USD) return null
  return BigInt(fields[6]) * MICROS_PER_CENT
}

/** Element 10: the first digit is the number of decimals in the seven digits after it. */
function rateOf(fields: Fields): string | null {
  const rate = fields[10]
  if (rate === undefined || currencyOf(fields[49]) === USD) return null
  const decimals = Number(rate[0])
  const digits = rate.slice(1).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/^0+(?=\d)/, '')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
