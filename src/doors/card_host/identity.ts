import type { OriginalDataElements } from '#iso8583/subfields.ts'

/**
 * Identifies a message: link, MTI without the repeat indicator, trace number and time, acquirer
 * and card. Element 37 is not included because some acquirers change it on a repeat. The time
 * comes first, so new identities sort after old ones.
 */
export type MessageKey = {
  link: string
  mti: string
  stan: string
  /** Element 7, MMDDhhmmss in UTC. */
  transmission_time: string
  acquirer: string
  pan_hash: string
}

export function identityOf(key: MessageKey, now: Date): string {
  const { link, mti, stan, acquirer, pan_hash } = key
  const at = `${yearOf(key.transmission_time, now)}${key.transmission_time}`
  return [at, link, mti.slice(0, 3), stan, withoutZeros(acquirer), pan_hash].join('|')
}

/** The identity of the original message in element 90. */
export function originalIdentityOf(
  original: OriginalDataElements,
  { link, pan_hash }: Pick<MessageKey, 'link' | 'pan_hash'>,
  now: Date,
): string {
  const { mti, stan, transmission_time, acquirer } = original
  return identityOf({ link, mti, stan, transmission_time, acquirer, pan_hash }, now)
}

const withoutZeros = (digits: string): string =>
  digits[0] === '0' ? digits.replace(/^0+(?=.)/, '') : digits

const HALF_YEAR_DAYS = 183
const DAY_MS = 86_400_000

/** Element 7 has no year; the year closest to now is assumed. */
function yearOf(transmission_time: string, now: Date): number {
  const year = now.getUTCFullYear()
  const month = Number(transmission_time.slice(0, 2)) - 1
  const at_ms = Date.UTC(year, month, Number(transmission_time.slice(2, 4)))
  const days = (at_ms - now.getTime()) / DAY_MS
  if (days > HALF_YEAR_DAYS) return year - 1
  return days < -HALF_YEAR_DAYS ? year + 1 : year
}
