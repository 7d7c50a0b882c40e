import { isOfKind, packedNibbleOf, writeHex, writeText } from './encoding.ts'
import { bytesOfCharacters, type Layout } from './link.ts'
import { MalformedMessage } from './malformed_message.ts'

/** A buffer of the maximum message length and the offset of the next byte to write. */
export type Writer = { readonly bytes: Uint8Array; at: number }

/** Writes the length prefix and the value, and advances the writer. */
export function writeElement(layout: Layout, writer: Writer, value: string): void {
  requireLength(layout, value)
  const size = bytesOfCharacters(layout, value.length)
  if (writer.at + layout.prefix_bytes + size > writer.bytes.length) {
    throw new MalformedMessage(layout.element, 'over_length')
  }
  if (layout.prefix_bytes > 0) {
    const counts_bytes = layout.counts_bytes || layout.kind === 'b'
    writePrefix(layout, writer, counts_bytes ? (value.length + 1) >> 1 : value.length)
  }
  if (!writeValue(layout, writer, value)) {
    throw new MalformedMessage(layout.element, 'wrong_characters')
  }
  writer.at += size
}

/** Returns false if the element does not allow a character of the value. */
function writeValue(layout: Layout, { bytes, at }: Writer, value: string): boolean {
  const { kind, encoding } = layout
  if (encoding === 'bin') return writeHex(bytes, at, value)
  if (encoding === 'bcd') return writePacked(layout, { bytes, at }, value)
  if (!isOfKind(kind, value)) return false
  writeText(bytes, at, { value: kind === 'b' ? value.toUpperCase() : value, encoding })
  return true
}

function writePrefix(layout: Layout, writer: Writer, length: number): void {
  const { prefix_encoding } = layout
  const { bytes, at } = writer
  let rest = length
  writer.at += layout.prefix_bytes
  for (let index = at + layout.prefix_bytes - 1; index >= at; index -= 1) {
    if (prefix_encoding === 'bin') {
      bytes[index] = rest & 255
      rest >>= 8
    } else if (prefix_encoding === 'bcd') {
      bytes[index] = ((Math.trunc(rest / 10) % 10) << 4) | (rest % 10)
      rest = Math.trunc(rest / 100)
    } else {
      bytes[index] = (prefix_encoding === 'ascii' ? 0x30 : 0xf0) + (rest % 10)
      rest = Math.trunc(rest / 10)
    }
  }
}

function requireLength(layout: Layout, value: string): void {
  const { element, kind, length_max, prefix_bytes } = layout
  const count_max = kind === 'b' ? length_max * 2 : length_max
  if (value.length > count_max) throw new MalformedMessage(element, 'over_length')
  const is_odd = value.length % 2 === 1
  const is_short = prefix_bytes === 0 && value.length < count_max
  const is_half_byte = kind === 'b' && is_odd
  // The reader could not tell such a pad from a digit.
  const is_ambiguous = layout.counts_bytes && is_odd && layout.pad_nibble <= 9
  if (is_short || is_half_byte || is_ambiguous) {
    throw new MalformedMessage(element, 'wrong_length')
  }
}

function writePacked(layout: Layout, { bytes, at }: Writer, value: string): boolean {
  const is_odd = value.length % 2 === 1
  let high = is_odd && layout.pad_left ? layout.pad_nibble : -1
  let place = at
  for (let index = 0; index < value.length; index += 1) {
    const nibble = packedNibbleOf(value.charCodeAt(index), layout.kind)
    if (nibble < 0) return false
    if (high < 0) high = nibble
    else {
      bytes[place] = (high << 4) | nibble
      place += 1
      high = -1
    }
  }
  if (high >= 0) bytes[place] = (high << 4) | layout.pad_nibble
  return true
}
