import { createHash } from 'node:crypto'
import { Problem } from '#contract/problem.ts'
import { numberOfCountry } from '#iso8583/country_numbers.ts'
import { amountFromMinor, type Currency, currencyOfLetters } from '#iso8583/currencies.ts'
import { writeCardAcceptor } from '#iso8583/subfields.ts'
import { decimalParts, decimalsOf } from '#kernel/money.ts'
import { invalid } from '#sandbox/control.ts'

/** A simulated purchase. Omitted fields get defaults. */
export type Purchase = {
  amount_minor: bigint
  currency: Currency
  merchant_name: string
  mcc: string
  merchant_country: string
  entry_mode: EntryMode
  cvv: string | null
  three_ds: boolean
}

/** Elements 22 and 25 by entry mode. */
const entry_modes = {
  chip: ['051', '00'],
  contactless: ['071', '00'],
  swipe: ['901', '00'],
  keyed: ['010', '01'],
  ecommerce: ['810', '59'],
  credential_on_file: ['100', '01'],
} as const
type EntryMode = keyof typeof entry_modes

const NAME_MAX = 25
const PRINTABLE = /^[ -~]+$/

export function parsePurchase(body: Record<string, unknown>): Purchase {
  const { amount, currency: letters = 'USD', merchant_name = 'Sandbox Shop', ...others } = body
  const { mcc = '5732', merchant_country = 'US', entry_mode = 'ecommerce', ...more } = others
  const { cvv = null, three_ds = false, ...unknown } = more
  const [other] = Object.keys(unknown)
  if (other !== undefined) throw invalid(other, 'is not recognized')
  const currency = typeof letters === 'string' ? currencyOfLetters(letters) : null
  if (currency === null) throw invalid('currency', 'must be three letters of ISO 4217')
  if (typeof merchant_name !== 'string' || !PRINTABLE.test(merchant_name)) {
    throw invalid('merchant_name', 'must be printable text')
  }
  if (typeof mcc !== 'string' || !/^\d{4}$/.test(mcc)) throw invalid('mcc', 'must be four digits')
  if (typeof merchant_country !== 'string' || !/^[A-Z]{2}$/.test(merchant_country)) {
    throw invalid('merchant_country', 'must be two capital letters')
  }
  if (typeof entry_mode !== 'string' || !(entry_mode in entry_modes)) {
    throw invalid('entry_mode', `must be one of ${Object.keys(entry_modes).join(', ')}`)
  }
  if (cvv !== null && (typeof cvv !== 'string' || !/^\d{3,4}$/.test(cvv))) {
    throw invalid('cvv', 'must be three or four digits')
  }
  if (typeof three_ds !== 'boolean') throw invalid('three_ds', 'must be true or false')
  return {
    amount_minor: parseAmount(amount, currency),
    currency,
    merchant_name: merchant_name.slice(0, NAME_MAX),
    mcc,
    merchant_country,
    entry_mode: entry_mode as EntryMode,
    cvv,
    three_ds,
  }
}

/** Limits the amount so that elements 4 and 6 both fit 12 digits. */
const MINOR_MAX = 9_999_999_999n

export function parseAmount(amount: unknown, { decimals, letters }: Currency): bigint {
  if (typeof amount !== 'number') throw invalid('amount', 'must be a number')
  const isRight = Number.isFinite(amount) && amount > 0 && decimalsOf(amount) <= decimals
  const minor = isRight ? exactMinor(amount, decimals) : 0n
  if (minor > 0n && minor <= MINOR_MAX) return minor
  const most = amountFromMinor(MINOR_MAX, letters)
  const places = `up to ${decimals} decimal places for ${letters}`
  const rule = `must be more than 0 and at most ${most}, with ${places}`
  throw new Problem('invalid_amount', `amount ${rule}.`, {
    details: [{ field: 'amount', message: rule }],
  })
}

export function exactMinor(amount: number, decimals: number): bigint {
  const parts = decimalParts(String(amount))
  return parts === null ? 0n : BigInt(parts.whole + parts.fraction.padEnd(decimals, '0'))
}

/** Fixed exchange rates: millionths of a dollar per unit. */
const RATES: Readonly<Record<string, bigint>> = {
  EUR: 1_085_000n,
  GBP: 1_270_000n,
  CHF: 1_130_000n,
  JPY: 6_700n,
  CAD: 730_000n,
  AUD: 660_000n,
  SEK: 95_000n,
  NOK: 93_000n,
  DKK: 145_000n,
  PLN: 250_000n,
  MXN: 58_000n,
  INR: 12_000n,
  BRL: 200_000n,
  SGD: 740_000n,
  HKD: 128_000n,
  KWD: 3_250_000n,
}
const RATE_STANDARD = 500_000n

/** Elements 4 and 49, and for other currencies than USD also 6, 10 and 51. */
export function amountElements(minor: bigint, currency: Currency): Record<number, string> {
  const elements = { 4: minor.toString().padStart(12, '0'), 49: currency.numeric }
  if (currency.letters === 'USD') return elements
  const rate = RATES[currency.letters] ?? RATE_STANDARD
  const scale = 10n ** BigInt(currency.decimals) * 10_000n
  const cents = (minor * rate + scale / 2n) / scale
  return {
    ...elements,
    6: cents.toString().padStart(12, '0'),
    10: `6${rate.toString().padStart(7, '0')}`,
    51: '840',
  }
}

/** Every merchant has an ID of its own, which follows from its name. */
export function merchantId({ merchant_name }: Pick<Purchase, 'merchant_name'>): string {
  const name = merchant_name.trim().replace(/\s+/g, ' ').toLowerCase()
  return `FLORIN${createHash('sha256').update(name).digest('hex').slice(0, 9).toUpperCase()}`
}

export function merchantElements(purchase: Purchase): Record<number, string> {
  const [entry, condition] = entry_modes[purchase.entry_mode]
  const city = purchase.entry_mode === 'ecommerce' ? 'ONLINE' : 'SANDBOX CITY'
  return {
    18: purchase.mcc,
    19: numberOfCountry(purchase.merchant_country) ?? '840',
    22: entry,
    25: condition,
    41: 'SANDBOX1',
    42: merchantId(purchase),
    43: writeCardAcceptor({
      name: purchase.merchant_name,
      city,
      country: purchase.merchant_country,
    }),
  }
}
