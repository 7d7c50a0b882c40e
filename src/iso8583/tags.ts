import { MalformedMessage } from './malformed_message.ts'

/**
 * Elements that are lists of tags: element 48, with two digits of tag and two of length, and
 * element 55 in the BER-TLV encoding of EMV.
 */
export type PrivateTag = {
  readonly tag: string
  readonly value: string
  /** The offset of the value in the element. */
  readonly at: number
}

const TWO_DIGITS = /^\d\d$/

/** Reads element 48 after the link's leading characters. A tag may occur only once. */
export function readPrivateTags(text: string, skip = 0): PrivateTag[] {
  if (text.length < skip) throw new MalformedMessage(48, 'bad_subfield')
  const tags: PrivateTag[] = []
  const seen = new Set<string>()
  let at = skip
  while (at < text.length) {
    const tag = text.slice(at, at + 2)
    const length = text.slice(at + 2, at + 4)
    const start = at + 4
    at = start + Number(length)
    const is_complete = TWO_DIGITS.test(tag) && TWO_DIGITS.test(length) && at <= text.length
    if (!is_complete || seen.has(tag)) throw new MalformedMessage(48, 'bad_subfield')
    seen.add(tag)
    tags.push({ tag, value: text.slice(start, at), at: start })
  }
  return tags
}

/** The value of one tag of element 48, or null. */
export function findPrivateTag(text: string, tag: string, skip = 0): string | null {
  return readPrivateTags(text, skip).find((each) => each.tag === tag)?.value ?? null
}

export function writePrivateTags(tags: readonly Pick<PrivateTag, 'tag' | 'value'>[]): string {
  let text = ''
  for (const { tag, value } of tags) {
    if (!TWO_DIGITS.test(tag) || value.length > 99) throw new MalformedMessage(48, 'bad_subfield')
    text += tag + String(value.length).padStart(2, '0') + value
  }
  readPrivateTags(text)
  return text
}

/** The tag in uppercase hex, as in EMV; the value in lowercase hex, like all binary elements. */
export type EmvTag = { readonly tag: string; readonly value: string }

const HEX_PAIRS = /^(?:[0-9a-fA-F]{2})*$/
/** EMV tags have one to three bytes. */
const TAG_MAX_BYTES = 3

/** Reads element 55. Constructed tags are not expanded: their value is the bytes inside. */
export function readEmvTags(hex: string): EmvTag[] {
  if (!HEX_PAIRS.test(hex)) throw new MalformedMessage(55, 'bad_subfield')
  const bytes = Buffer.from(hex, 'hex')
  const tags: EmvTag[] = []
  let at = 0
  while (at < bytes.length) {
    const tag_end = tagEnd(bytes, at)
    const { start, length } = readEmvLength(bytes, tag_end)
    if (start + length > bytes.length) throw new MalformedMessage(55, 'bad_subfield')
    tags.push({
      tag: bytes.toString('hex', at, tag_end).toUpperCase(),
      value: bytes.toString('hex', start, start + length),
    })
    at = start + length
  }
  return tags
}

/** Five low bits set in the first byte continue the tag; so does the high bit of later bytes. */
function tagEnd(bytes: Uint8Array, at: number): number {
  let end = at + 1
  if (((bytes[at] as number) & 0x1f) === 0x1f) {
    while (((bytes[end] ?? 0) & 0x80) !== 0) end += 1
    end += 1
  }
  const is_tag = bytes[at] !== 0 && end <= bytes.length && end - at <= TAG_MAX_BYTES
  if (!is_tag) throw new MalformedMessage(55, 'bad_subfield')
  return end
}

/** One byte up to 127, else 81 or 82 and one or two more bytes. The indefinite form is invalid. */
function readEmvLength(bytes: Uint8Array, at: number): { start: number; length: number } {
  const first = bytes[at]
  if (first !== undefined && first < 0x80) return { start: at + 1, length: first }
  const more = (first ?? 0) - 0x80
  if (more !== 1 && more !== 2) throw new MalformedMessage(55, 'bad_subfield')
  if (at + 1 + more > bytes.length) throw new MalformedMessage(55, 'bad_subfield')
  const length = Buffer.from(bytes).readUIntBE(at + 1, more)
  return { start: at + 1 + more, length }
}

export function writeEmvTags(tags: readonly EmvTag[]): string {
  let hex = ''
  for (const { tag, value } of tags) {
    const is_hex = HEX_PAIRS.test(tag) && HEX_PAIRS.test(value)
    const bytes = Buffer.from(is_hex ? tag : '', 'hex')
    if (bytes.length === 0 || tagEnd(bytes, 0) !== bytes.length || value.length > 2 * 0xffff) {
      throw new MalformedMessage(55, 'bad_subfield')
    }
    hex += tag.toLowerCase() + emvLengthHex(value.length / 2) + value.toLowerCase()
  }
  return hex
}

function emvLengthHex(length: number): string {
  if (length < 0x80) return length.toString(16).padStart(2, '0')
  if (length < 0x100) return `81${length.toString(16)}`
  return `82${length.toString(16).padStart(4, '0')}`
}
