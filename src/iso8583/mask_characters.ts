import type { Layout } from './link.ts'

/** The bytes that replace masked characters; none of them reads as a digit. */
const STAR = { ascii: 0x2a, ebcdic: 0x5c } as const
const MASKED_NIBBLE = 0xf

/** Overwrites characters of a value in the message's bytes, in the element's encoding. */
export function maskCharacters(
  layout: Layout,
  target: Uint8Array,
  value: { start: number; count: number; from: number; to: number },
): void {
  const { start, count, from, to } = value
  if (layout.encoding === 'ascii' || layout.encoding === 'ebcdic') {
    const star = STAR[layout.encoding]
    for (let at = start + from; at < start + to; at += 1) target[at] = star
    return
  }
  const shift = layout.encoding === 'bcd' && count % 2 === 1 && layout.pad_left ? 1 : 0
  for (let nibble = from + shift; nibble < to + shift; nibble += 1) {
    const place = start + (nibble >> 1)
    const byte = target[place] as number
    target[place] =
      nibble % 2 === 0 ? (MASKED_NIBBLE << 4) | (byte & 15) : (byte & 0xf0) | MASKED_NIBBLE
  }
}
