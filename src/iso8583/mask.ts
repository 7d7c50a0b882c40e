import { elementsOffset } from './bitmap.ts'
import { encodedSizeOf, type Layout, type Link } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { maskCharacters } from './mask_characters.ts'
import { decodeMasked, type Message } from './message.ts'
import { type PrivateTag, readPrivateTags } from './tags.ts'

/**
 * Messages are stored without cardholder data: card number, expiry, tracks, PIN, EMV and
 * verification data are overwritten in a copy of the bytes. The elements are read from these bytes
 * when somebody looks at them, which is much rarer than a purchase.
 */

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
  return replaceWithStars(pan, hiddenRangeOf(pan))
}

function replaceWithStars(value: string, { from, to }: Range): string {
  return value.slice(0, from) + '*'.repeat(to - from) + value.slice(to)
}

/** A copy of the message's bytes without cardholder data. */
export function maskBytes(link: Link, { fields, bitmap_hex, raw }: Message): Uint8Array {
  const masked = Buffer.allocUnsafe(raw.length)
  masked.set(raw)
  const pans = findPans(fields)
  let end = elementsOffset(link, bitmap_hex.length > 16)
  for (const layout of link.elements) {
    const value = fields[layout.element]
    if (value === undefined) continue
    const start = end + layout.prefix_bytes
    end += encodedSizeOf(layout, value)
    if (layout.masking === 'plain' && !includesAny(value, pans)) continue
    hideSecrets(link, pans, { layout, value, raw: masked, start })
  }
  return masked
}

/** The bitmaps and the elements of a masked message, without those that are removed. */
export function readMasked(link: Link, masked: Uint8Array): Pick<Message, 'bitmap_hex' | 'fields'> {
  const { bitmap_hex, fields } = decodeMasked(link, masked)
  const shown: Message['fields'] = {}
  for (const layout of link.elements) {
    const value = fields[layout.element]
    if (value === undefined || layout.masking === 'drop') continue
    const visible = layout.masking === 'tags' ? visibleTags(link, value) : value
    if (visible !== null) shown[layout.element] = visible
  }
  return { bitmap_hex, fields: shown }
}

type ElementInMessage = {
  layout: Layout
  value: string
  raw: Uint8Array
  /** The offset of the value in the bytes. */
  start: number
}

function hideSecrets(
  link: Link,
  pans: readonly string[],
  { layout, value, raw, start }: ElementInMessage,
): void {
  const count = value.length
  const hide = ({ from, to }: Range) => maskCharacters(layout, raw, { start, count, from, to })
  hiddenRangesOf(link, layout, value).forEach(hide)
  for (const pan of pans) {
    // Already masked as the element itself.
    if (pan === value && layout.masking === 'pan') continue
    occurrencesOf(pan, value).forEach(hide)
  }
}

export function includesAny(value: string, pans: readonly string[]): boolean {
  for (const pan of pans) if (value.length >= pan.length && value.includes(pan)) return true
  return false
}

function hiddenRangesOf(link: Link, { masking }: Layout, value: string): readonly Range[] {
  const everything = { from: 0, to: value.length }
  switch (masking) {
    case 'plain':
      return []
    case 'pan':
      return [hiddenRangeOf(value)]
    case 'stars':
    case 'drop':
      return [everything]
    case 'tags': {
      const tags = splitTags(link, value)
      return (
        tags?.secret.map(({ at, value: { length } }) => ({ from: at, to: at + length })) ?? [
          everything,
        ]
      )
    }
  }
}

/** The element without its secret tags; null if nothing is left or it is not readable. */
function visibleTags(link: Link, value: string): string | null {
  const tags = splitTags(link, value)
  if (tags === null || (tags.visible.length === 0 && tags.secret.length > 0)) return null
  // Tag and length are the four characters before each value.
  const texts = tags.visible.map((tag) => value.slice(tag.at - 4, tag.at + tag.value.length))
  return value.slice(0, tags.skip) + texts.join('')
}

type SplitTags = { skip: number; secret: PrivateTag[]; visible: PrivateTag[] }

/** Null if the tags are not readable: then any part of the element may be secret. */
function splitTags({ private_tags }: Link, value: string): SplitTags | null {
  if (private_tags === null) return null
  const { skip, hidden } = private_tags
  const tags = tryReadTags(value, skip)
  if (tags === null) return null
  return {
    skip,
    secret: tags.filter(({ tag }) => hidden.includes(tag)),
    visible: tags.filter(({ tag }) => !hidden.includes(tag)),
  }
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
export function findPans(fields: Message['fields']): readonly string[] {
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
