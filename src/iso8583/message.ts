import {
  elementsOffset,
  lastElement,
  readBitmap,
  resetBitmap,
  setBit,
  writeBitmap,
} from './bitmap.ts'
import {
  class_of_kind,
  MessageReader,
  nibbleOf,
  text_codecs,
  writeHex,
  writeText,
} from './encoding.ts'
import { ELEMENT_MAX, encodedSizeOf, type Layout, type Link, MESSAGE_MAX_BYTES } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { readLength, readValue } from './read_element.ts'
import { type Writer, writeElement } from './write_element.ts'

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
}

export type OutgoingMessage = { mti: string; fields: Readonly<Record<number, string>> }

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
export function decodePartially(link: Link, bytes: Uint8Array): OutgoingMessage | null {
  const message = emptyMessage(bytes)
  let unread = ELEMENT_MAX + 1
  try {
    readInto(message, link, bytes)
  } catch (fault) {
    if (!(fault instanceof MalformedMessage)) throw fault
    unread = fault.element ?? unread
  }
  if (message.mti === '') return null
  const fields: Record<number, string> = {}
  for (const element of ECHOED_ELEMENTS) {
    const value = message.fields[element]
    if (value !== undefined && element < unread) fields[element] = value
  }
  return { mti: message.mti, fields }
}

function emptyMessage(raw: Uint8Array): Message {
  return { mti: '', fields: {}, bitmap_hex: '', raw }
}

function readInto(message: Message, link: Link, bytes: Uint8Array): void {
  if (bytes.length > MESSAGE_MAX_BYTES) throw new MalformedMessage(null, 'over_length')
  const reader = new MessageReader(bytes)
  message.mti = readMti(link, reader)
  const bitmap_hex = readBitmap(link, reader)
  message.bitmap_hex = bitmap_hex
  reader.at = elementsOffset(link, bitmap_hex.length > 16)
  const { fields } = message
  const last = lastElement(bitmap_hex)
  // An object makes room for the highest key it is given; elsewise it would do so several times.
  if (last > 1) fields[last] = ''
  let nibble = 0
  for (let element = 1; element <= last; element += 1) {
    if (element % 4 === 1) nibble = nibbleOf(bitmap_hex.charCodeAt(element >> 2))
    if ((nibble & (8 >> ((element - 1) & 3))) === 0 || element === 1) continue
    const layout = link.layouts[element]
    if (layout === undefined) {
      throw new MalformedMessage(element, element === 65 ? 'tertiary_bitmap' : 'unknown_element')
    }
    fields[element] = readValue(layout, reader, readLength(layout, reader))
  }
  if (reader.at < bytes.length) throw new MalformedMessage(null, 'trailing_bytes')
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

function readMti(link: Link, reader: MessageReader): string {
  const { mti_bytes } = link
  if (reader.bytes.length < mti_bytes) throw new MalformedMessage(null, 'truncated')
  const mti = link.mti === 'bcd' ? reader.hex().slice(0, 4) : reader.text(link.mti).slice(0, 4)
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  return mti
}

/** Messages are built here and copied out: their length is known only at the end. */
const scratch = Buffer.alloc(MESSAGE_MAX_BYTES)

export function encode(link: Link, message: OutgoingMessage): Uint8Array {
  const elements = Object.keys(message.fields)
  const has_second = Number(elements.at(-1) ?? 0) > 64
  const writer = startMessage(link, message.mti, has_second)
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
    setBit(element)
  }
  return finishMessage(link, writer, has_second)
}

/** Elements of its own, and by number those that it repeats of the message, where that has them. */
export type Answer = OutgoingMessage & { repeats: readonly boolean[] }

/**
 * An answer to a message of the same link: what it repeats is copied as it stands. No element that
 * answers have is in the second bitmap.
 */
export function encodeResponse(link: Link, asked: Message, answer: Answer): Uint8Array {
  const writer = startMessage(link, answer.mti, false)
  const own = Object.keys(answer.fields).map(Number)
  let own_at = 0
  let end = elementsOffset(link, asked.bitmap_hex.length > 16)
  for (const layout of link.elements) {
    const { element } = layout
    if (element > ANSWERED_MAX) break
    const value = asked.fields[element]
    const start = end
    if (value !== undefined) end += encodedSizeOf(layout, value)
    if (element === own[own_at]) {
      writeElement(layout, writer, answer.fields[element] as string)
      own_at += 1
    } else if (value !== undefined && answer.repeats[element]) {
      copyElement(layout, writer, { source: asked.raw, start, end })
    } else continue
    setBit(element)
  }
  const unknown = own[own_at]
  if (unknown !== undefined) throw new MalformedMessage(unknown, 'unknown_element')
  return finishMessage(link, writer, false)
}

const ANSWERED_MAX = 64

/** Byte by byte: elements are so short that a view of each would cost more. */
function copyElement(
  { element }: Layout,
  writer: Writer,
  { source, start, end }: { source: Uint8Array; start: number; end: number },
): void {
  const { bytes, at } = writer
  if (at + end - start > bytes.length) throw new MalformedMessage(element, 'over_length')
  for (let from = start; from < end; from += 1) bytes[at + from - start] = source[from] as number
  writer.at = at + end - start
}

function startMessage(link: Link, mti: string, has_second: boolean): Writer {
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  if (link.mti === 'bcd') writeHex(scratch, 0, mti)
  else writeText(scratch, 0, { value: mti, class: class_of_kind.n, codec: text_codecs[link.mti] })
  resetBitmap(has_second)
  return { bytes: scratch, at: elementsOffset(link, has_second) }
}

function finishMessage(link: Link, { at }: Writer, has_second: boolean): Uint8Array {
  writeBitmap(link, scratch, has_second)
  const bytes = Buffer.allocUnsafe(at)
  scratch.copy(bytes, 0, 0, at)
  return bytes
}
