import { assert } from './assert.ts'

/**
 * Ids are a prefix and the 26-character base32 of a UUIDv7, so they sort by the moment they were
 * made. An id's first 48 bits are its row's created_at, which lets one index on the id serve both
 * the order of a list and its created_* filters.
 */
export const ID_PREFIXES = [
  'acct',
  'sess',
  'key',
  'bal',
  'tup',
  'card',
  'ctr',
  'txn',
  'wd',
  'dsp',
  'evd',
  'wh',
  'evt',
  'dlv',
  'tkt',
  'msg',
  'aud',
  'chg',
  'req',
  'grant',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BODY_LENGTH = 26
const TIME_MAX_MS = 2 ** 48 - 1
const COUNTER_BITS = 12n

export type RandomBytes = (count: number) => Uint8Array

function encode(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += ALPHABET[Number((value >> shift) & 31n)]
  return text
}

/** A UUIDv7 as a number: 48 bits of time, version, 12 bits of counter, variant, 62 random bits. */
function uuid7(time_ms: number, counter: bigint, random: bigint): bigint {
  return (BigInt(time_ms) << 80n) | (7n << 76n) | (counter << 64n) | (2n << 62n) | random
}

/**
 * Makes ids that never go backwards within one process: ids of the same millisecond count up in
 * the 12 bits after the time, so rows made one after the other also sort so.
 */
export function idMaker(randomBytes: RandomBytes): (prefix: IdPrefix, time_ms: number) => string {
  let last_ms = -1
  let counter = 0n
  return (prefix, time_ms) => {
    assert(Number.isInteger(time_ms) && time_ms >= 0 && time_ms <= TIME_MAX_MS, 'an id has a time')
    const bytes = randomBytes(9)
    let random = 0n
    for (let at = 0; at < 8; at += 1) random = (random << 8n) | BigInt(bytes[at] ?? 0)
    if (time_ms === last_ms && counter < (1n << COUNTER_BITS) - 1n) counter += 1n
    else counter = BigInt(bytes[8] ?? 0)
    last_ms = time_ms
    return `${prefix}_${encode(uuid7(time_ms, counter, random & ((1n << 62n) - 1n)))}`
  }
}

const ID_BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1))
}

/** The smallest id that a row of this moment could have: the edge for created_* filters. */
export function idFloor(prefix: IdPrefix, time_ms: number): string {
  const bounded = Math.min(Math.max(Math.trunc(time_ms), 0), TIME_MAX_MS)
  return `${prefix}_${encode(BigInt(bounded) << 80n)}`
}

export function idTimeMs(id: string): number {
  const body = id.slice(id.lastIndexOf('_') + 1)
  assert(body.length === ID_BODY_LENGTH, 'an id has 26 characters after its prefix')
  let value = 0n
  for (const letter of body) value = (value << 5n) | BigInt(ALPHABET.indexOf(letter))
  return Number(value >> 80n)
}
