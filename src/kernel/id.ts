import { assert } from './assert.ts'
import { cellMark, cellOfMark } from './cell.ts'

/**
 * TypeIDs: a prefix and a UUIDv7 in 26 base32 characters, so IDs sort by creation time. The first
 * 48 bits are the row's created_at, so one index on the ID serves both the order of a list and its
 * created_* filters.
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
  'apr',
  'note',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BODY_LENGTH = 26
const TIME_MAX_MS = 2 ** 48 - 1
const TIME_LETTERS = 10
const RANDOM_BYTES = 10
/** Random bytes for 100 IDs at a time: an array per ID would cost more than encoding it. */
const BLOCK_BYTES = 100 * RANDOM_BYTES
/** Counters kept for this many past timestamps: a call may still create IDs for its own one. */
const TIMESTAMPS_MAX = 1_000

/** After the version, an ID of cell 0 has a zero bit; a one says that a cell is named later. */
const NAMES_CELL = 0x800
const VERSION_AT = 10
const VERSION_WITH_CELL = 'f'
const CELL_AT = 18

export type RandomBytes = (count: number) => Uint8Array

/** All pairs of characters, to encode ten bits per lookup: every request creates an ID. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second))

/** Encodes 40 bits, five per character: 8 in `high` and 32 in `low`. */
function letters(high: number, low: number): string {
  const first = PAIRS[((high << 2) | (low >>> 30)) & 1023]
  return `${first}${PAIRS[(low >>> 20) & 1023]}${PAIRS[(low >>> 10) & 1023]}${PAIRS[low & 1023]}`
}

/** Two zero bits (26 characters hold 130 bits) and the 48 bits of the time: ten characters. */
function timeLetters(time_ms: number): string {
  const top = Math.floor(time_ms / 2 ** 40)
  const rest = time_ms % 2 ** 40
  return `${PAIRS[top]}${letters(Math.floor(rest / 2 ** 32), rest % 2 ** 32)}`
}

/** The rest of a UUIDv7: version, 12 counter bits, variant, 14 counter bits, 48 random bits. */
function restLetters(
  count: number,
  random: Uint8Array,
  from: number,
  cell: number,
): [string, string] {
  const byte = (at: number) => random[from + at] ?? 0
  const version = 0x7000 | (cell === 0 ? 0 : NAMES_CELL) | (count >>> 14)
  const variant = 0x8000 | (count & 0x3fff)
  const low = letters(byte(1), (byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5))
  return [
    letters(version >>> 8, ((version & 255) << 24) | (variant << 8) | byte(0)),
    cell === 0 ? low : cellMark(cell) + low.slice(2),
  ]
}

/**
 * Creates IDs that sort in creation order within one process: IDs of the same millisecond count up
 * in the 25 bits after the time and the cell's bit. The counter starts at a random value in the
 * lower half, so two nodes do not collide and 16 million values are left. IDs of all cells sort by
 * time, because the cell's number replaces random bits.
 */
export function idMaker(
  randomBytes: RandomBytes,
  cell = 0,
): (prefix: IdPrefix, time_ms: number) => string {
  /** Counters of earlier timestamps; the last one is in `last_count`, where most IDs need it. */
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
      if (counts.size > TIMESTAMPS_MAX) dropFirst(counts)
      last_ms = time_ms
      last_letters = timeLetters(time_ms)
    }
    last_count += 1
    const [high, low] = restLetters(last_count, block, from, cell)
    // join() gives a flat string; a concatenated one is slower every time it is written.
    return [prefix, '_', last_letters, high, low].join('')
  }
}

function startOf(random: Uint8Array, from: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = random.subarray(from)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 8
}

function dropFirst(counts: Map<number, number>): void {
  for (const time_ms of counts.keys()) {
    counts.delete(time_ms)
    return
  }
}

/** Regular expression source of the part after the prefix; also used in schemas. */
export const ID_BODY_PATTERN = '[0-7][0-9a-hjkmnp-tv-z]{25}'
const ID_BODY = new RegExp(`^${ID_BODY_PATTERN}$`)

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1))
}

/** The smallest ID a row with this timestamp can have, for created_* filters. */
export function idFloor(prefix: IdPrefix, time_ms: number): string {
  const bounded = Math.min(Math.max(Math.trunc(time_ms), 0), TIME_MAX_MS)
  return `${prefix}_${timeLetters(bounded)}${'0'.repeat(ID_BODY_LENGTH - TIME_LETTERS)}`
}

/**
 * The cell that an ID names; 0 if it names none. Until there were cells, the counter could reach
 * the bit that announces one, about once in 30 million IDs. Such an ID names a random number, so
 * callers treat a cell that doesn't exist as cell 0.
 */
export function cellOfId(id: string): number {
  const body = id.length - ID_BODY_LENGTH
  if (id[body + VERSION_AT] !== VERSION_WITH_CELL) return 0
  return cellOfMark(id.slice(body + CELL_AT, body + CELL_AT + 2)) ?? 0
}

export function idTimeMs(id: string): number {
  const body = id.slice(id.lastIndexOf('_') + 1)
  assert(body.length === ID_BODY_LENGTH, 'an id has 26 characters after its prefix')
  let value = 0n
  for (const letter of body) value = (value << 5n) | BigInt(ALPHABET.indexOf(letter))
  return Number(value >> 80n)
}
