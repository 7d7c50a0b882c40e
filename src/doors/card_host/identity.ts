import type { PurchaseReference } from '#domain/authorizations/request.ts'
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
  return prefixOf(key, now) + withoutZeros(key.acquirer) + SEPARATOR + key.pan_hash
}

const SEPARATOR = '|'

/** Up to the acquirer. */
function prefixOf({ link, mti, stan, transmission_time }: MessageKey, now: Date): string {
  const at = `${yearOf(transmission_time, now)}${transmission_time}`
  return [at, link, mti.slice(0, 3), stan, ''].join(SEPARATOR)
}

type OriginalNames = Pick<PurchaseReference, 'original_identity' | 'original_prefix'>

const NO_ORIGINAL: OriginalNames = { original_identity: null, original_prefix: null }
/** Element 90 of a message that names none is absent or filled with zeros. */
const NO_TIME = '0000000000'

/** The identity of the original message in element 90. */
export function originalOf(
  original: OriginalDataElements | null,
  { link, pan_hash }: Pick<MessageKey, 'link' | 'pan_hash'>,
  now: Date,
): OriginalNames {
  if (original === null || original.transmission_time === NO_TIME) return NO_ORIGINAL
  const { mti, stan, transmission_time, acquirer } = original
  const key = { link, mti, stan, transmission_time, acquirer, pan_hash }
  return { original_identity: identityOf(key, now), original_prefix: prefixOf(key, now) }
}

/** Element 32 may be absent, which element 90 shows as zeros. */
const withoutZeros = (digits: string): string =>
  digits[0] === '0' ? digits.replace(/^0+/, '') : digits

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
