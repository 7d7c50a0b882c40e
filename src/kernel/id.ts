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
const UUID_BYTES = 16
const RANDOM_BYTES = 10
/** The last counts of these many moments are known: a call may make ids of its own moment late. */
const MOMENTS_MAX = 1_000

export type RandomBytes = (count: number) => Uint8Array

/** 128 bits, five to a letter, behind the two zero bits that make them 26 letters. */
function encode(uuid: Uint8Array): string {
  let text = ''
  let held = 0
  let held_bits = 2
  for (const byte of uuid) {
    held = (held << 8) | byte
    for (held_bits += 8; held_bits >= 5; held_bits -= 5) {
      text += ALPHABET[(held >> (held_bits - 5)) & 31]
    }
    held &= 31
  }
  return text
}

function withTime(time_ms: number): Uint8Array {
  const uuid = new Uint8Array(UUID_BYTES)
  const view = new DataView(uuid.buffer)
  view.setUint16(0, Math.floor(time_ms / 2 ** 32))
  view.setUint32(2, time_ms % 2 ** 32)
  return uuid
}

/** A UUIDv7: time, version, 12 bits of the count, variant, 14 more of it, and 48 random bits. */
function uuid7(time_ms: number, count: number, random: Uint8Array): Uint8Array {
  const uuid = withTime(time_ms)
  const view = new DataView(uuid.buffer)
  view.setUint16(6, 0x7000 | (count >>> 14))
  view.setUint16(8, 0x8000 | (count & 0x3fff))
  uuid.set(random.subarray(0, 6), 10)
  return uuid
}

/**
 * Makes ids that sort as they were made, within one process: ids of one millisecond count up in
 * the 26 bits after the time. The count begins anywhere in their lower half, so that two nodes do
 * not meet, and has 33 million steps to go.
 */
export function idMaker(randomBytes: RandomBytes): (prefix: IdPrefix, time_ms: number) => string {
  const counts = new Map<number, number>()
  return (prefix, time_ms) => {
    assert(Number.isInteger(time_ms) && time_ms >= 0 && time_ms <= TIME_MAX_MS, 'an id has a time')
    const random = randomBytes(RANDOM_BYTES)
    const count = (counts.get(time_ms) ?? startOf(random)) + 1
    if (counts.size >= MOMENTS_MAX && !counts.has(time_ms)) dropFirst(counts)
    counts.set(time_ms, count)
    return `${prefix}_${encode(uuid7(time_ms, count, random))}`
  }
}

function startOf(random: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.subarray(6)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 7
}

function dropFirst(counts: Map<number, number>): void {
  for (const moment of counts.keys()) {
    counts.delete(moment)
    return
  }
}

const ID_BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1))
}

/** The smallest id that a row of this moment could have: the edge for created_* filters. */
export function idFloor(prefix: IdPrefix, time_ms: number): string {
  const bounded = Math.min(Math.max(Math.trunc(time_ms), 0), TIME_MAX_MS)
  return `${prefix}_${encode(withTime(bounded))}`
}

export function idTimeMs(id: string): number {
  const body = id.slice(id.lastIndexOf('_') + 1)
  assert(body.length === ID_BODY_LENGTH, 'an id has 26 characters after its prefix')
  let value = 0n
  for (const letter of body) value = (value << 5n) | BigInt(ALPHABET.indexOf(letter))
  return Number(value >> 80n)
}
