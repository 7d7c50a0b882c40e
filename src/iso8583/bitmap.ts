import { isOfKind, type MessageReader, nibbleOf, writeText } from './encoding.ts'
import type { Link } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'

/** Each element has one bit. The first bit of the primary bitmap announces a secondary one. */

/** The bitmaps in lowercase hex digits. */
export function readBitmap(link: Link, reader: MessageReader): string {
  const primary = readHalf(link, reader, link.mti_bytes)
  const has_secondary = nibbleOf(primary.charCodeAt(0)) >= 8
  return has_secondary
    ? primary + readHalf(link, reader, link.mti_bytes + link.bitmap_bytes)
    : primary
}

function readHalf(link: Link, reader: MessageReader, start: number): string {
  const end = start + link.bitmap_bytes
  if (reader.bytes.length < end) throw new MalformedMessage(null, 'truncated')
  if (link.bitmap === 'bin') return reader.bytes.toString('hex', start, end)
  const half = reader.text(link.bitmap).slice(start, end).toLowerCase()
  if (!isOfKind('b', half)) throw new MalformedMessage(null, 'bad_bitmap')
  return half
}

/** The offset of the first element. */
export function elementsOffset(link: Link, has_secondary: boolean): number {
  return link.mti_bytes + link.bitmap_bytes * (has_secondary ? 2 : 1)
}

/** The highest element in the bitmap, or 0. */
export function lastElement(bitmap_hex: string): number {
  let place = bitmap_hex.length - 1
  while (place >= 0 && bitmap_hex[place] === '0') place -= 1
  if (place < 0) return 0
  const nibble = nibbleOf(bitmap_hex.charCodeAt(place))
  // The lowest bit that is set is the highest of the four elements.
  return place * 4 + Math.clz32(nibble & -nibble) - 27
}

export function setBit(bitmap: Uint8Array, element: number): void {
  const bit = element - 1
  bitmap[bit >> 3] = (bitmap[bit >> 3] as number) | (0x80 >> (bit & 7))
}

export function writeBitmap(link: Link, target: Uint8Array, bitmap: Buffer): void {
  if (link.bitmap === 'bin') {
    target.set(bitmap, link.mti_bytes)
    return
  }
  const value = bitmap.toString('hex').toUpperCase()
  writeText(target, link.mti_bytes, { value, encoding: link.bitmap })
}
