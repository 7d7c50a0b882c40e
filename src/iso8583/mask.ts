import { elementsOffset } from './bitmap.ts'
import { encodedSizeOf, type Layout, type Link } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { maskCharacters } from './mask_characters.ts'
import type { Message } from './message.ts'
import { type PrivateTag, readPrivateTags } from './tags.ts'

/**
 * A message without cardholder data, for storage and display. Masking replaces or removes card
 * number, expiry, tracks, PIN, EMV and verification data in the values and in the bytes.
 */
export type MaskedMessage = {
  mti: string
  bitmap: string
  /** The values by element number as JSON text, because they are only stored. */
  fields: string
  /** The bytes, overwritten where values are masked. */
  raw: Uint8Array
}

const FIRST_SHOWN = 6
const LAST_SHOWN = 4
/** Shorter numbers are masked entirely: first six and last four would hide almost nothing. */
const SHOWN_PAN_LENGTH_MIN = 13
/** Shorter digit sequences in other elements may not be the card number. */
const SEARCHED_PAN_LENGTH_MIN = 12

/** Characters of a value; `to` is exclusive. */
type Range = { from: number; to: number }

function hiddenRangeOf(pan: string, at = 0): Range {
  const is_shown = pan.length >= SHOWN_PAN_LENGTH_MIN
  return {
    from: at + (is_shown ? FIRST_SHOWN : 0),
    to: at + pan.length - (is_shown ? LAST_SHOWN : 0),
  }
}

export function maskPan(pan: string): string {
  return replaceWithStars(pan, [hiddenRangeOf(pan)])
}

function replaceWithStars(value: string, ranges: readonly Range[]): string {
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
  const pans = findPans(fields)
  const shown_fields: Record<number, string | undefined> = { ...fields }
  let end = elementsOffset(link, bitmap_hex.length > 16)
  for (const layout of link.elements) {
    const value = fields[layout.element]
    if (value === undefined) continue
    const start = end + layout.prefix_bytes
    end += encodedSizeOf(layout, value)
    if (layout.masking === 'plain' && !includesAny(value, pans)) continue
    const shown = hideSecrets(link, pans, { layout, value, raw, start })
    // JSON leaves out what is undefined; `delete` would make every later step slower.
    shown_fields[layout.element] = shown ?? undefined
  }
  return { mti: message.mti, bitmap: bitmap_hex, fields: JSON.stringify(shown_fields), raw }
}

type ElementInMessage = {
  layout: Layout
  value: string
  raw: Uint8Array
  /** The offset of the value in the bytes. */
  start: number
}

/** Masks an element in the bytes. Returns the masked value, or null if nothing may be shown. */
function hideSecrets(
  link: Link,
  pans: readonly string[],
  { layout, value, raw, start }: ElementInMessage,
): string | null {
  const count = value.length
  const { hidden, shown } = maskElement(link, layout, value)
  for (const { from, to } of hidden) maskCharacters(layout, raw, { start, count, from, to })
  let masked = shown
  for (const pan of pans) {
    // Already masked as the element itself.
    if (pan === value && layout.masking === 'pan') continue
    for (const { from, to } of occurrencesOf(pan, value)) {
      maskCharacters(layout, raw, { start, count, from, to })
    }
    if (masked !== null) masked = replaceWithStars(masked, occurrencesOf(pan, masked))
  }
  return masked
}

function includesAny(value: string, pans: readonly string[]): boolean {
  for (const pan of pans) if (value.length >= pan.length && value.includes(pan)) return true
  return false
}

/** The ranges to overwrite in the bytes, and the masked value; null if nothing may be shown. */
type MaskedElement = { hidden: Range[]; shown: string | null }

function maskElement(link: Link, layout: Layout, value: string): MaskedElement {
  const everything = { from: 0, to: value.length }
  switch (layout.masking) {
    case 'plain':
      return { hidden: [], shown: value }
    case 'pan':
      return maskRanges(value, [hiddenRangeOf(value)])
    case 'stars':
      return maskRanges(value, [everything])
    case 'drop':
      return { hidden: [everything], shown: null }
    case 'tags':
      return maskTags(link, value) ?? { hidden: [everything], shown: null }
  }
}

const maskRanges = (value: string, hidden: Range[]): MaskedElement => ({
  hidden,
  shown: replaceWithStars(value, hidden),
})

/** Null if the tags are not readable: then any part of the element may be secret. */
function maskTags(link: Link, value: string): MaskedElement | null {
  if (link.private_tags === null) return null
  const { skip, hidden } = link.private_tags
  const tags = tryReadTags(value, skip)
  if (tags === null) return null
  const secrets = tags.filter(({ tag }) => hidden.includes(tag))
  const ranges = secrets.map((tag) => ({ from: tag.at, to: tag.at + tag.value.length }))
  const visible = tags.filter(({ tag }) => !hidden.includes(tag))
  // Tag and length are the four characters before each value.
  const texts = visible.map((tag) => value.slice(tag.at - 4, tag.at + tag.value.length))
  const shown =
    visible.length === 0 && secrets.length > 0 ? null : value.slice(0, skip) + texts.join('')
  return { hidden: ranges, shown }
}

function tryReadTags(value: string, skip: number): PrivateTag[] | null {
  try {
    return readPrivateTags(value, skip)
  } catch (fault) {
    if (fault instanceof MalformedMessage) return null
    throw fault
  }
}

/**
 * The card numbers of elements 2, 34, 35 and 45. Account elements and private data sometimes
 * repeat them, so they are masked there too.
 */
function findPans(fields: Message['fields']): readonly string[] {
  const { 2: pan, 34: extended, 35: track_2, 45: track_1 } = fields
  if (track_2 === undefined && track_1 === undefined && extended === undefined) {
    return isSearchable(pan) ? [pan] : []
  }
  const candidates = [
    pan,
    extended,
    /^\d*/.exec(track_2 ?? '')?.[0],
    /^[A-Z](\d*)\^/.exec(track_1 ?? '')?.[1],
  ]
  return [...new Set(candidates)].filter(isSearchable)
}

const isSearchable = (pan: string | undefined): pan is string =>
  pan !== undefined && pan.length >= SEARCHED_PAN_LENGTH_MIN

function occurrencesOf(pan: string, value: string): Range[] {
  const ranges: Range[] = []
  if (value.length < pan.length) return ranges
  for (let at = value.indexOf(pan); at >= 0; at = value.indexOf(pan, at + 1)) {
    const range = hiddenRangeOf(pan, at)
    const last = ranges.at(-1)
    // Overlaps are merged: a number of equal digits can occur a thousand times in one element.
    if (last !== undefined && range.from <= last.to) last.to = range.to
    else ranges.push(range)
  }
  return ranges
}
