import { MalformedMessage } from './malformed_message.ts'

/** One of the tags of element 48: two digits of tag, two of length, and the value. */
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

export function writePrivateTags(tags: readonly Pick<PrivateTag, 'tag' | 'value'>[]): string {
  let text = ''
  for (const { tag, value } of tags) {
    if (!TWO_DIGITS.test(tag) || value.length > 99) throw new MalformedMessage(48, 'bad_subfield')
    text += tag + String(value.length).padStart(2, '0') + value
  }
  readPrivateTags(text)
  return text
}
