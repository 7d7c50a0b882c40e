import { elementsOffset } from './bitmap.ts'
import { addToJson, finishJson, startJson } from './json_text.ts'
import { encodedSizeOf, type Layout, type Link } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { maskCharacters } from './mask_characters.ts'
import type { Message } from './message.ts'
import { type PrivateTag, readPrivateTags } from './tags.ts'

/**
 * What may be stored and shown of a message. Card number, expiry, tracks, PIN, chip and
 * verification data go here, before storage, from the values and from the bytes alike; what is
 * left does not depend on them.
 */
export type MaskedMessage = {
  mti: string
  bitmap: string
  /** The values by element number, as JSON text: they are only ever stored. */
  fields: string
  /** The bytes, with stars where the values have them. */
  raw: Uint8Array
}

const FIRST_SHOWN = 6
const LAST_SHOWN = 4
/** Of a shorter number, six and four digits would leave next to nothing hidden. */
const SHOWN_PAN_LENGTH_MIN = 13
/** Below this many digits a number found elsewhere may well be another one. */
const SOUGHT_PAN_LENGTH_MIN = 12

/** Characters of a value from one place up to, not including, another. */
type Range = { from: number; to: number }

function hiddenOfPan(pan: string, at = 0): Range {
  const is_shown = pan.length >= SHOWN_PAN_LENGTH_MIN
  return {
    from: at + (is_shown ? FIRST_SHOWN : 0),
    to: at + pan.length - (is_shown ? LAST_SHOWN : 0),
  }
}

export function maskPan(pan: string): string {
  return starred(pan, [hiddenOfPan(pan)])
}

function starred(value: string, ranges: readonly Range[]): string {
  let shown = value
  for (const { from, to } of ranges) {
    shown = shown.slice(0, from) + '*'.repeat(to - from) + shown.slice(to)
  }
  return shown
}

export function maskMessage(link: Link, message: Message): MaskedMessage {
  const { fields, bitmap_hex } = message
  const raw = Buffer.allocUnsafe(message.raw.length)
  raw.set(message.raw)
  const pans = pansOf(fields)
  startJson()
  let end = elementsOffset(link, bitmap_hex.length > 16)
  for (const layout of link.elements) {
    const value = fields[layout.element]
    if (value === undefined) continue
    const start = end + layout.prefix_bytes
    end += encodedSizeOf(layout, value)
    const shown =
      layout.show === 'plain' && !holdsOneOf(pans, value)
        ? value
        : hide(link, pans, { layout, value, raw, start })
    if (shown !== null) addToJson(layout.element, shown)
  }
  return { mti: message.mti, bitmap: bitmap_hex, fields: finishJson(), raw }
}

/** A value, and where in the bytes it begins. */
type Place = { layout: Layout; value: string; raw: Uint8Array; start: number }

/** Overwrites what is secret in the bytes; the text that is shown, or null for none at all. */
function hide(
  link: Link,
  pans: readonly string[],
  { layout, value, raw, start }: Place,
): string | null {
  const count = value.length
  const { hidden, shown } = maskElement(link, layout, value)
  for (const { from, to } of hidden) maskCharacters(layout, raw, { start, count, from, to })
  let rest = shown
  for (const pan of pans) {
    // A number that is all of its element was hidden with it.
    if (pan === value && layout.show === 'pan') continue
    for (const { from, to } of occurrencesOf(pan, value)) {
      maskCharacters(layout, raw, { start, count, from, to })
    }
    if (rest !== null) rest = starred(rest, occurrencesOf(pan, rest))
  }
  return rest
}

/** Almost always no: most elements are shorter than any card number. */
function holdsOneOf(pans: readonly string[], value: string): boolean {
  for (const pan of pans) if (value.length >= pan.length && value.includes(pan)) return true
  return false
}

/** The ranges to overwrite in the bytes, and the text that is shown; null for none at all. */
type Masked = { hidden: Range[]; shown: string | null }

function maskElement(link: Link, layout: Layout, value: string): Masked {
  const everything = { from: 0, to: value.length }
  switch (layout.show) {
    case 'plain':
      return { hidden: [], shown: value }
    case 'pan':
      return withStars(value, [hiddenOfPan(value)])
    case 'stars':
      return withStars(value, [everything])
    case 'drop':
      return { hidden: [everything], shown: null }
    case 'tags':
      return maskTags(link, value) ?? { hidden: [everything], shown: null }
  }
}

const withStars = (value: string, hidden: Range[]): Masked => ({
  hidden,
  shown: starred(value, hidden),
})

/** Null when the tags cannot be told apart: then any part may be a secret. */
function maskTags(link: Link, value: string): Masked | null {
  if (link.private_tags === null) return null
  const { skip, hidden } = link.private_tags
  const tags = tagsOrNull(value, skip)
  if (tags === null) return null
  const secrets = tags.filter(({ tag }) => hidden.includes(tag))
  const ranges = secrets.map((tag) => ({ from: tag.at, to: tag.at + tag.value.length }))
  const kept = tags.filter(({ tag }) => !hidden.includes(tag))
  // The tag and its length stand in the four characters before each value.
  const texts = kept.map((tag) => value.slice(tag.at - 4, tag.at + tag.value.length))
  const shown =
    kept.length === 0 && secrets.length > 0 ? null : value.slice(0, skip) + texts.join('')
  return { hidden: ranges, shown }
}

function tagsOrNull(value: string, skip: number): PrivateTag[] | null {
  try {
    return readPrivateTags(value, skip)
  } catch (fault) {
    if (fault instanceof MalformedMessage) return null
    throw fault
  }
}

/**
 * The message's card numbers, from elements 2 and 34 and the tracks: account elements and private
 * data sometimes repeat them, and a number masked in one place must not be readable in another.
 */
function pansOf(fields: Message['fields']): readonly string[] {
  const { 2: pan, 34: extended, 35: track_2, 45: track_1 } = fields
  if (track_2 === undefined && track_1 === undefined && extended === undefined) {
    return isSought(pan) ? [pan] : []
  }
  const candidates = [
    pan,
    extended,
    /^\d*/.exec(track_2 ?? '')?.[0],
    /^[A-Z](\d*)\^/.exec(track_1 ?? '')?.[1],
  ]
  return [...new Set(candidates)].filter(isSought)
}

const isSought = (pan: string | undefined): pan is string =>
  pan !== undefined && pan.length >= SOUGHT_PAN_LENGTH_MIN

function occurrencesOf(pan: string, value: string): Range[] {
  const ranges: Range[] = []
  if (value.length < pan.length) return ranges
  for (let at = value.indexOf(pan); at >= 0; at = value.indexOf(pan, at + 1)) {
    const range = hiddenOfPan(pan, at)
    const last = ranges.at(-1)
    // Joined where they overlap: a number of equal digits is found a thousand times in one element.
    if (last !== undefined && range.from <= last.to) last.to = range.to
    else ranges.push(range)
  }
  return ranges
}
