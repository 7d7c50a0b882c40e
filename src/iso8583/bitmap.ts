import {
  class_of_kind,
  type MessageReader,
  nibbleOf,
  text_codecs,
  writeHex,
  writeText,
} from './encoding.ts'
import { ELEMENT_MAX, type Link } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'

/** One bit for each element, in one half of 64, or in two where the first bit says so. */

/** In lower-case hex digits. */
export function readBitmap(link: Link, reader: MessageReader): string {
  const first = readHalf(link, reader, link.mti_bytes)
  const has_second = nibbleOf(first.charCodeAt(0)) >= 8
  return has_second ? first + readHalf(link, reader, link.mti_bytes + link.bitmap_bytes) : first
}

function readHalf(link: Link, reader: MessageReader, start: number): string {
  const end = start + link.bitmap_bytes
  if (reader.bytes.length < end) throw new MalformedMessage(null, 'truncated')
  if (link.bitmap === 'bin') return reader.bytes.toString('hex', start, end)
  const half = reader.text(link.bitmap).slice(start, end).toLowerCase()
  if (!writeHex(bits, 0, half)) throw new MalformedMessage(null, 'bad_bitmap')
  return half
}

/** Where the first element of a message begins. */
export function elementsOffset(link: Link, has_second: boolean): number {
  return link.mti_bytes + link.bitmap_bytes * (has_second ? 2 : 1)
}

/** The highest element that the bitmap announces; 0 for none. */
export function lastElement(bitmap_hex: string): number {
  let place = bitmap_hex.length - 1
  while (place >= 0 && bitmap_hex[place] === '0') place -= 1
  if (place < 0) return 0
  const nibble = nibbleOf(bitmap_hex.charCodeAt(place))
  // The lowest bit that is set stands for the highest element of the four.
  return place * 4 + Math.clz32(nibble & -nibble) - 27
}

/** The bitmap of the message that is being written. */
const bits = Buffer.alloc(ELEMENT_MAX / 8)

export function resetBitmap(has_second: boolean): void {
  bits.fill(0)
  if (has_second) bits[0] = 0x80
}

export function setBit(element: number): void {
  const bit = element - 1
  bits[bit >> 3] = (bits[bit >> 3] as number) | (0x80 >> (bit & 7))
}

export function writeBitmap(link: Link, target: Uint8Array, has_second: boolean): void {
  const start = link.mti_bytes
  const size = has_second ? 16 : 8
  if (link.bitmap === 'bin') {
    for (let at = 0; at < size; at += 1) target[start + at] = bits[at] as number
    return
  }
  const value = bits.toString('hex', 0, size).toUpperCase()
  writeText(target, start, { value, class: class_of_kind.b, codec: text_codecs[link.bitmap] })
}
