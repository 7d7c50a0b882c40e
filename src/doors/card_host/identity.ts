import type { OriginalDataElements } from '#iso8583/subfields.ts'

/**
 * What makes a message the same message: its link, its kind without the digit that marks a repeat,
 * its trace number and time, its acquirer and its card. Element 37 is no part of it: some acquirers
 * change that on a repeat. The time comes first, so that new identities sort behind old ones.
 */
export type MessageKey = {
  link: string
  mti: string
  stan: string
  /** Element 7: month, day, hour, minute and second in UTC, without a year. */
  transmitted: string
  acquirer: string
  pan_hash: string
}

export function identityOf(key: MessageKey, now: Date): string {
  const { link, mti, stan, acquirer, pan_hash } = key
  const at = `${yearOf(key.transmitted, now)}${key.transmitted}`
  return [at, link, mti.slice(0, 3), stan, withoutZeros(acquirer), pan_hash].join('|')
}

/** The identity of the message that element 90 names. */
export function originalIdentityOf(
  original: OriginalDataElements,
  { link, pan_hash }: Pick<MessageKey, 'link' | 'pan_hash'>,
  now: Date,
): string {
  const { mti, stan, transmitted, acquirer } = original
  return identityOf({ link, mti, stan, transmitted, acquirer, pan_hash }, now)
}

const withoutZeros = (digits: string): string =>
  digits[0] === '0' ? digits.replace(/^0+(?=.)/, '') : digits

const HALF_YEAR_DAYS = 183
const DAY_MS = 86_400_000

/** Element 7 has no year: it is the one that brings it nearest to now. */
function yearOf(transmitted: string, now: Date): number {
  const year = now.getUTCFullYear()
  const month = Number(transmitted.slice(0, 2)) - 1
  const at_ms = Date.UTC(year, month, Number(transmitted.slice(2, 4)))
  const days = (at_ms - now.getTime()) / DAY_MS
  if (days > HALF_YEAR_DAYS) return year - 1
  return days < -HALF_YEAR_DAYS ? year + 1 : year
}
