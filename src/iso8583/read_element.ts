import { isOfKind, type MessageReader, SEPARATOR_NIBBLE } from './encoding.ts'
import { bytesOfCharacters, type Layout } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'

/** The number in a length prefix, or -1 if it is not a number. */
function readPrefix(layout: Layout, bytes: Uint8Array, at: number): number {
  const { prefix_encoding } = layout
  const end = at + layout.prefix_bytes
  let length = 0
  if (prefix_encoding === 'bin') {
    for (let index = at; index < end; index += 1) length = length * 256 + (bytes[index] as number)
    return length
  }
  if (prefix_encoding === 'bcd') {
    for (let index = at; index < end; index += 1) {
      const byte = bytes[index] as number
      if (byte >> 4 > 9 || (byte & 15) > 9) return -1
      length = length * 100 + (byte >> 4) * 10 + (byte & 15)
    }
    return length
  }
  const zero = prefix_encoding === 'ascii' ? 0x30 : 0xf0
  for (let index = at; index < end; index += 1) {
    const digit = (bytes[index] as number) - zero
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

function nibbleAt(bytes: Uint8Array, place: number): number {
  const byte = bytes[place >> 1] as number
  return place % 2 === 0 ? byte >> 4 : byte & 15
}

/** True if the spare nibble of packed digits has the link's padding value. */
function hasPad(
  layout: Layout,
  bytes: Uint8Array,
  { start, size }: { start: number; size: number },
): boolean {
  if (size === 0) return false
  const place = layout.pad_left ? start * 2 : (start + size) * 2 - 1
  return nibbleAt(bytes, place) === layout.pad_nibble
}

/**
 * The number of characters of the next element; advances the reader to the first of them. If the
 * prefix counts bytes, only a pad that is not a digit shows whether the last nibble is spare.
 */
export function readLength(layout: Layout, reader: MessageReader): number {
  const { bytes } = reader
  const start = reader.at + layout.prefix_bytes
  if (start > bytes.length) throw new MalformedMessage(layout.element, 'truncated')
  const length =
    layout.prefix_bytes === 0 ? layout.length_max : readPrefix(layout, bytes, reader.at)
  if (length < 0) throw new MalformedMessage(layout.element, 'bad_length_prefix')
  let count = layout.kind === 'b' || layout.counts_bytes ? length * 2 : length
  const size = bytesOfCharacters(layout, count)
  if (layout.counts_bytes && layout.pad_nibble > 9 && start + size <= bytes.length) {
    if (hasPad(layout, bytes, { start, size })) count -= 1
  }
  const count_max = layout.kind === 'b' ? layout.length_max * 2 : layout.length_max
  if (count > count_max) throw new MalformedMessage(layout.element, 'over_length')
  if (start + size > bytes.length) throw new MalformedMessage(layout.element, 'truncated')
  reader.at = start
  return count
}

/** Reads that many characters and advances the reader. */
export function readValue(layout: Layout, reader: MessageReader, count: number): string {
  const { encoding } = layout
  const start = reader.at
  reader.at = start + bytesOfCharacters(layout, count)
  if (encoding === 'bin') return reader.hex().slice(start * 2, start * 2 + count)
  if (encoding === 'bcd') return readPacked(layout, reader, { start, count })
  const value = reader.text(encoding).slice(start, start + count)
  if (!isOfKind(layout.kind, value)) {
    throw new MalformedMessage(layout.element, 'wrong_characters')
  }
  return layout.kind === 'b' ? value.toLowerCase() : value
}

/**
 * Reads an element of a masked message: hidden characters are stars, which digits don't allow.
 * Those of binary elements read as hex digits, because every byte is a value there.
 */
export function readMaskedValue(layout: Layout, reader: MessageReader, count: number): string {
  const { encoding } = layout
  const start = reader.at
  reader.at = start + bytesOfCharacters(layout, count)
  if (encoding === 'bin') return reader.hex().slice(start * 2, start * 2 + count)
  if (encoding === 'bcd') {
    const first = start * 2 + (count % 2 === 1 && layout.pad_left ? 1 : 0)
    const digits = reader.hex().slice(first, first + count)
    return digits.replaceAll('f', '*').replaceAll('d', '=')
  }
  const value = reader.text(encoding).slice(start, start + count)
  return layout.kind === 'b' ? value.toLowerCase() : value
}

function readPacked(
  layout: Layout,
  reader: MessageReader,
  value: { start: number; count: number },
): string {
  const { start, count } = value
  const is_odd = count % 2 === 1
  if (is_odd && !hasPad(layout, reader.bytes, { start, size: (count + 1) >> 1 })) {
    throw new MalformedMessage(layout.element, 'wrong_characters')
  }
  const first = start * 2 + (is_odd && layout.pad_left ? 1 : 0)
  let has_separator = false
  for (let place = first; place < first + count; place += 1) {
    const nibble = nibbleAt(reader.bytes, place)
    if (nibble <= 9) continue
    if (nibble !== SEPARATOR_NIBBLE || layout.kind !== 'z') {
      throw new MalformedMessage(layout.element, 'wrong_characters')
    }
    has_separator = true
  }
  const digits = reader.hex().slice(first, first + count)
  return has_separator ? digits.replaceAll('d', '=') : digits
}
