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
  'pay',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BODY_LENGTH = 26
const TIME_MAX_MS = 2 ** 48 - 1
const TIME_LETTERS = 10
const RANDOM_BYTES = 10
/** For a hundred ids at once: an array of its own would cost each more than its letters do. */
const BLOCK_BYTES = 100 * RANDOM_BYTES
/** The last counts of these many moments are known: a call may make ids of its own moment late. */
const MOMENTS_MAX = 1_000

export type RandomBytes = (count: number) => Uint8Array

/** All pairs of letters: ten bits are looked up at once, since every request makes an id. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second))

/** 40 bits, five to a letter: `high` has 8 of them and `low` 32. */
function letters(high: number, low: number): string {
  const first = PAIRS[((high << 2) | (low >>> 30)) & 1023]
  return `${first}${PAIRS[(low >>> 20) & 1023]}${PAIRS[(low >>> 10) & 1023]}${PAIRS[low & 1023]}`
}

/** The two zero bits that make 128 bits 26 letters, and the 48 bits of the time: ten letters. */
function timeLetters(time_ms: number): string {
  const top = Math.floor(time_ms / 2 ** 40)
  const rest = time_ms % 2 ** 40
  return `${PAIRS[top]}${letters(Math.floor(rest / 2 ** 32), rest % 2 ** 32)}`
}

/** The rest of a UUIDv7: version, 12 bits of the count, variant, 14 more of it, 48 random bits. */
function restLetters(count: number, random: Uint8Array, from: number): [string, string] {
  const byte = (at: number) => random[from + at] ?? 0
  const version = 0x7000 | (count >>> 14)
  const variant = 0x8000 | (count & 0x3fff)
  return [
    letters(version >>> 8, ((version & 255) << 24) | (variant << 8) | byte(0)),
    letters(byte(1), (byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)),
  ]
}

/**
 * Makes ids that sort as they were made, within one process: ids of one millisecond count up in
 * the 26 bits after the time. The count begins anywhere in their lower half, so that two nodes do
 * not meet, and has 33 million steps to go.
 */
export function idMaker(randomBytes: RandomBytes): (prefix: IdPrefix, time_ms: number) => string {
  /** Of the moments before the last one, whose own count is at hand: most ids follow another. */
  const counts = new Map<number, number>()
  let [last_ms, last_count, last_letters] = [Number.NaN, 0, '']
  let block: Uint8Array = new Uint8Array(0)
  let used = 0
  return (prefix, time_ms) => {
    assert(Number.isInteger(time_ms) && time_ms >= 0 && time_ms <= TIME_MAX_MS, 'an id has a time')
    if (used === block.length) {
      block = randomBytes(BLOCK_BYTES)
      used = 0
    }
    const from = used
    used += RANDOM_BYTES
    if (time_ms !== last_ms) {
      counts.set(last_ms, last_count)
      last_count = counts.get(time_ms) ?? startOf(block, from + 6)
      if (counts.size > MOMENTS_MAX) dropFirst(counts)
      last_ms = time_ms
      last_letters = timeLetters(time_ms)
    }
    last_count += 1
    const [high, low] = restLetters(last_count, block, from)
    // Joined, it is one piece: a string of parts is slower to read each time that it is written.
    return [prefix, '_', last_letters, high, low].join('')
  }
}

function startOf(random: Uint8Array, from: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.subarray(from)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 7
}

function dropFirst(counts: Map<number, number>): void {
  for (const moment of counts.keys()) {
    counts.delete(moment)
    return
  }
}

/** What follows the prefix, as a pattern's text: schemas say it too. */
export const ID_BODY_PATTERN = '[0-7][0-9a-hjkmnp-tv-z]{25}'
const ID_BODY = new RegExp(`^${ID_BODY_PATTERN}$`)

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1))
}

/** The smallest id that a row of this moment could have: the edge for created_* filters. */
export function idFloor(prefix: IdPrefix, time_ms: number): string {
  const bounded = Math.min(Math.max(Math.trunc(time_ms), 0), TIME_MAX_MS)
  return `${prefix}_${timeLetters(bounded)}${'0'.repeat(ID_BODY_LENGTH - TIME_LETTERS)}`
}

export function idTimeMs(id: string): number {
  const body = id.slice(id.lastIndexOf('_') + 1)
  assert(body.length === ID_BODY_LENGTH, 'an id has 26 characters after its prefix')
  let value = 0n
  for (const letter of body) value = (value << 5n) | BigInt(ALPHABET.indexOf(letter))
  return Number(value >> 80n)
}
