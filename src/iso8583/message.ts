import { class_of_kind, nibbleOf, text_codecs, Views, writeHex, writeText } from './encoding.ts'
import { ELEMENT_MAX, type Link, MESSAGE_MAX_BYTES } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { readCount, readValue } from './read_element.ts'
import { writeElement } from './write_element.ts'

/**
 * Bytes to message and back, for any link. Reading is strict: what cannot be read to the last byte
 * is refused with a MalformedMessage, and nothing else is ever thrown at a peer's bytes. A message
 * that was read can be written again and says the same.
 */
export type Message = {
  mti: string
  /** By element number, ascending, as integer keys of an object always are. Bytes are hex. */
  fields: Record<number, string>
  /** The bitmaps as received, lower case; 16 digits, or 32 with the second one. */
  bitmap_hex: string
  /** The very bytes that were read; not copied. */
  raw: Uint8Array
  /** Where in raw each element's value begins, after its length prefix. */
  offsets: Record<number, number>
}

export type Outgoing = { mti: string; fields: Readonly<Record<number, string>> }

export function decode(link: Link, bytes: Uint8Array): Message {
  const message = emptyMessage(bytes)
  readInto(message, link, bytes)
  return message
}

/** What an answer of "format error" repeats, so that the peer can tell which request it was. */
const ECHOED_ELEMENTS = [7, 11, 12, 13, 32, 33, 37, 41, 42] as const

/**
 * What can still be said of a message that decode refused: its MTI and those echoed elements that
 * stand before the fault. Null when not even the MTI can be read.
 */
export function salvage(link: Link, bytes: Uint8Array): Outgoing | null {
  const message = emptyMessage(bytes)
  try {
    readInto(message, link, bytes)
  } catch (fault) {
    if (!(fault instanceof MalformedMessage)) throw fault
  }
  if (message.mti === '') return null
  const fields: Record<number, string> = {}
  for (const element of ECHOED_ELEMENTS) {
    const value = message.fields[element]
    if (value !== undefined) fields[element] = value
  }
  return { mti: message.mti, fields }
}

function emptyMessage(raw: Uint8Array): Message {
  return { mti: '', fields: {}, bitmap_hex: '', raw, offsets: {} }
}

function readInto(message: Message, link: Link, bytes: Uint8Array): void {
  if (bytes.length > MESSAGE_MAX_BYTES) throw new MalformedMessage(null, 'over_length')
  const views = new Views(bytes)
  message.mti = readMti(link, views)
  readBitmap(message, link, views)
  const { bitmap_hex, fields, offsets } = message
  const element_max = bitmap_hex.length * 4
  let nibble = 0
  for (let element = 1; element <= element_max; element += 1) {
    if (element % 4 === 1) nibble = nibbleOf(bitmap_hex.charCodeAt(element >> 2))
    if ((nibble & (8 >> ((element - 1) & 3))) === 0 || element === 1) continue
    const layout = link.layouts[element]
    if (layout === undefined) {
      throw new MalformedMessage(element, element === 65 ? 'tertiary_bitmap' : 'unknown_element')
    }
    const count = readCount(layout, views)
    offsets[element] = views.at
    fields[element] = readValue(layout, views, count)
  }
  if (views.at < bytes.length) throw new MalformedMessage(null, 'trailing_bytes')
}

/**
 * Classes 1 to 8, functions 0 to 4 and origins 0 to 5 are the ones the 1987 edition gives a
 * meaning; anything else is no message we could answer.
 */
function isMti(link: Link, mti: string): boolean {
  return (
    mti.length === 4 &&
    mti[0] === link.version &&
    isWithin(mti.charCodeAt(1), '1', '8') &&
    isWithin(mti.charCodeAt(2), '0', '4') &&
    isWithin(mti.charCodeAt(3), '0', '5')
  )
}

function isWithin(code: number, from: string, to: string): boolean {
  return code >= from.charCodeAt(0) && code <= to.charCodeAt(0)
}

function readMti(link: Link, views: Views): string {
  const { mti_bytes } = link
  if (views.bytes.length < mti_bytes) throw new MalformedMessage(null, 'truncated')
  const mti = link.mti === 'bcd' ? views.hex().slice(0, 4) : views.text(link.mti).slice(0, 4)
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  return mti
}

/** Fills in bitmap_hex and moves the cursor to the first element. */
function readBitmap(message: Message, link: Link, views: Views): void {
  const start = link.mti_bytes
  const first = readBitmapHalf(link, views, start)
  const has_second = nibbleOf(first.charCodeAt(0)) >= 8
  message.bitmap_hex = has_second
    ? first + readBitmapHalf(link, views, start + link.bitmap_bytes)
    : first
  views.at = start + link.bitmap_bytes * (has_second ? 2 : 1)
}

function readBitmapHalf(link: Link, views: Views, start: number): string {
  const end = start + link.bitmap_bytes
  if (views.bytes.length < end) throw new MalformedMessage(null, 'truncated')
  if (link.bitmap === 'bin') return views.hex().slice(start * 2, end * 2)
  const half = views.text(link.bitmap).slice(start, end).toLowerCase()
  if (!writeHex(bitmap, 0, half)) throw new MalformedMessage(null, 'bad_bitmap')
  return half
}

/** Messages are built here and copied out: their length is known only at the end. */
const scratch = Buffer.alloc(MESSAGE_MAX_BYTES)
const bitmap = Buffer.alloc(ELEMENT_MAX / 8)

export function encode(link: Link, message: Outgoing): Uint8Array {
  writeMti(link, message.mti)
  const elements = Object.keys(message.fields)
  const has_second = Number(elements.at(-1) ?? 0) > 64
  bitmap.fill(0)
  if (has_second) bitmap[0] = 0x80
  const at = link.mti_bytes + link.bitmap_bytes * (has_second ? 2 : 1)
  const writer = { bytes: scratch, at }
  for (const key of elements) {
    const element = Number(key)
    const layout = link.layouts[element]
    if (layout === undefined) {
      throw new MalformedMessage(element, element === 65 ? 'tertiary_bitmap' : 'unknown_element')
    }
    const value = message.fields[element]
    // A caller's optional element that was left undefined is a value like any other wrong one.
    if (typeof value !== 'string') throw new MalformedMessage(element, 'wrong_characters')
    writeElement(layout, writer, value)
    const bit = element - 1
    bitmap[bit >> 3] = (bitmap[bit >> 3] as number) | (0x80 >> (bit & 7))
  }
  writeBitmap(link, has_second ? 16 : 8)
  const bytes = Buffer.allocUnsafe(writer.at)
  scratch.copy(bytes, 0, 0, writer.at)
  return bytes
}

function writeMti(link: Link, mti: string): void {
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  if (link.mti === 'bcd') writeHex(scratch, 0, mti)
  else writeText(scratch, 0, { value: mti, class: class_of_kind.n, codec: text_codecs[link.mti] })
}

function writeBitmap(link: Link, size: number): void {
  const start = link.mti_bytes
  if (link.bitmap === 'bin') {
    bitmap.copy(scratch, start, 0, size)
    return
  }
  const value = bitmap.toString('hex', 0, size).toUpperCase()
  writeText(scratch, start, { value, class: class_of_kind.b, codec: text_codecs[link.bitmap] })
}
