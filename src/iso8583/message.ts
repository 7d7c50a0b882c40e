import { elementsOffset, lastElement, readBitmap, setBit, writeBitmap } from './bitmap.ts'
import { MessageReader, nibbleOf, writeHex, writeText } from './encoding.ts'
import { ELEMENT_MAX, encodedSizeOf, type Layout, type Link, MESSAGE_MAX_BYTES } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'
import { readLength, readMaskedValue, readValue } from './read_element.ts'
import { type Writer, writeElement } from './write_element.ts'

/**
 * Decodes and encodes messages of any link. Decoding is strict: bytes that are not one complete
 * message throw MalformedMessage, and never anything else. A decoded message encodes to the same
 * elements.
 */
export type Message = {
  mti: string
  /** By element number, in ascending order. Binary elements are hex. */
  fields: Record<number, string>
  /** The bitmaps as received, in lowercase: 16 digits, or 32 with the secondary bitmap. */
  bitmap_hex: string
  /** The received bytes, not a copy. */
  raw: Uint8Array
}

export type OutgoingMessage = { mti: string; fields: Readonly<Record<number, string>> }

export function decode(link: Link, bytes: Uint8Array): Message {
  const message = emptyMessage(bytes)
  readInto(message, link, readValue)
  return message
}

/** Reads a message whose bytes are masked. */
export function decodeMasked(link: Link, bytes: Uint8Array): Message {
  const message = emptyMessage(bytes)
  readInto(message, link, readMaskedValue)
  return message
}

/** The elements of a malformed request that a "format error" response echoes. */
const ECHOED_ELEMENTS = [7, 11, 12, 13, 32, 33, 37, 41, 42] as const

/**
 * The MTI of a malformed message and the echoed elements before the fault. Null if the MTI is not
 * readable.
 */
export function decodePartially(link: Link, bytes: Uint8Array): OutgoingMessage | null {
  const message = emptyMessage(bytes)
  let first_unread = ELEMENT_MAX + 1
  try {
    readInto(message, link, readValue)
  } catch (fault) {
    if (!(fault instanceof MalformedMessage)) throw fault
    first_unread = fault.element ?? first_unread
  }
  if (message.mti === '') return null
  const fields: Record<number, string> = {}
  for (const element of ECHOED_ELEMENTS) {
    const value = message.fields[element]
    if (value !== undefined && element < first_unread) fields[element] = value
  }
  return { mti: message.mti, fields }
}

function emptyMessage(raw: Uint8Array): Message {
  return { mti: '', fields: {}, bitmap_hex: '', raw }
}

function readInto(message: Message, link: Link, read: typeof readValue): void {
  const bytes = message.raw
  if (bytes.length > MESSAGE_MAX_BYTES) throw new MalformedMessage(null, 'over_length')
  const reader = new MessageReader(bytes)
  message.mti = readMti(link, reader)
  const bitmap_hex = readBitmap(link, reader)
  message.bitmap_hex = bitmap_hex
  reader.at = elementsOffset(link, bitmap_hex.length > 16)
  const last = lastElement(bitmap_hex)
  // Reserves room for all elements.
  if (last > 1) message.fields[last] = ''
  let nibble = 0
  for (let element = 1; element <= last; element += 1) {
    if (element % 4 === 1) nibble = nibbleOf(bitmap_hex.charCodeAt(element >> 2))
    if ((nibble & (8 >> ((element - 1) & 3))) === 0 || element === 1) continue
    const layout = requireLayout(link, element)
    message.fields[element] = read(layout, reader, readLength(layout, reader))
  }
  if (reader.at < bytes.length) throw new MalformedMessage(null, 'trailing_bytes')
}

function requireLayout(link: Link, element: number): Layout {
  const layout = link.layouts[element]
  if (layout === undefined) {
    throw new MalformedMessage(element, element === 65 ? 'tertiary_bitmap' : 'unknown_element')
  }
  return layout
}

/** The classes, functions and origins that the 1987 edition defines. */
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
  if (reader.bytes.length < link.mti_bytes) throw new MalformedMessage(null, 'truncated')
  const mti = link.mti === 'bcd' ? reader.hex().slice(0, 4) : reader.text(link.mti).slice(0, 4)
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  return mti
}

export function encode(link: Link, message: OutgoingMessage): Uint8Array {
  const elements = Object.keys(message.fields).map(Number)
  const writer = startMessage(link, message.mti, (elements.at(-1) ?? 0) > 64)
  for (const element of elements) {
    const layout = requireLayout(link, element)
    const value = message.fields[element]
    if (typeof value !== 'string') throw new MalformedMessage(element, 'wrong_characters')
    writeElement(layout, writer, value)
    setBit(writer.bitmap, element)
  }
  return finishMessage(link, writer)
}

/** A response's own elements, and the numbers of those it echoes from the request. */
export type ResponseMessage = OutgoingMessage & { echoes: ReadonlySet<number> }

/**
 * Encodes a response to a request of the same link. Echoed elements are copied as bytes. Responses
 * have no elements of the secondary bitmap.
 */
export function encodeResponse(
  link: Link,
  request: Message,
  response: ResponseMessage,
): Uint8Array {
  const writer = startMessage(link, response.mti, false)
  const own = Object.keys(response.fields).map(Number)
  let own_at = 0
  let end = elementsOffset(link, request.bitmap_hex.length > 16)
  for (const layout of link.elements) {
    const { element } = layout
    if (element > PRIMARY_MAX) break
    const value = request.fields[element]
    const start = end
    if (value !== undefined) end += encodedSizeOf(layout, value)
    if (element === own[own_at]) {
      writeElement(layout, writer, response.fields[element] as string)
      own_at += 1
    } else if (value !== undefined && response.echoes.has(element)) {
      copyElement(layout, writer, { source: request.raw, start, end })
    } else continue
    setBit(writer.bitmap, element)
  }
  const unknown = own[own_at]
  if (unknown !== undefined) throw new MalformedMessage(unknown, 'unknown_element')
  return finishMessage(link, writer)
}

/** The last element of the primary bitmap. */
const PRIMARY_MAX = 64

function copyElement(
  { element }: Layout,
  writer: Writer,
  { source, start, end }: { source: Uint8Array; start: number; end: number },
): void {
  const { bytes, at } = writer
  if (at + end - start > bytes.length) throw new MalformedMessage(element, 'over_length')
  // Elements are so short that a view of each would cost more.
  for (let from = start; from < end; from += 1) bytes[at + from - start] = source[from] as number
  writer.at = at + end - start
}

type MessageWriter = Writer & { readonly bitmap: Buffer }

/** Shared by all messages: encoding is synchronous, and each result is copied out at its length. */
const scratch = Buffer.alloc(MESSAGE_MAX_BYTES)
const scratch_bitmap = Buffer.alloc(16)
const scratch_primary = scratch_bitmap.subarray(0, 8)

function startMessage(link: Link, mti: string, has_secondary: boolean): MessageWriter {
  if (!isMti(link, mti)) throw new MalformedMessage(null, 'bad_mti')
  if (link.mti === 'bcd') writeHex(scratch, 0, mti)
  else writeText(scratch, 0, { value: mti, encoding: link.mti })
  const bitmap = has_secondary ? scratch_bitmap : scratch_primary
  bitmap.fill(0)
  if (has_secondary) setBit(bitmap, 1)
  return { bytes: scratch, at: elementsOffset(link, has_secondary), bitmap }
}

function finishMessage(link: Link, { at, bitmap }: MessageWriter): Uint8Array {
  writeBitmap(link, scratch, bitmap)
  const bytes = Buffer.allocUnsafe(at)
  scratch.copy(bytes, 0, 0, at)
  return bytes
}
