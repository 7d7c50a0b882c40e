import { ELEMENT_MAX, MESSAGE_MAX_BYTES } from './link.ts'

/**
 * The values of a message as the text that JSON.stringify would write, one after the other, into
 * one place. Values are printable ASCII, so that all there is to escape is a quote or a backslash.
 */

/** Two characters for every byte of the longest message, packed or escaped, and the keys. */
const text = Buffer.alloc(2 * MESSAGE_MAX_BYTES + 8 * ELEMENT_MAX)
let length = 0

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7d

const keys = Array.from({ length: ELEMENT_MAX + 1 }, (_, element) => `,"${element}":"`)

export function startJson(): void {
  length = 0
}

export function addToJson(element: number, value: string): void {
  const key = keys[element] as string
  let at = length
  for (let index = 0; index < key.length; index += 1) {
    text[at] = key.charCodeAt(index)
    at += 1
  }
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index)
    if (code === QUOTE || code === BACKSLASH) {
      text[at] = BACKSLASH
      at += 1
    }
    text[at] = code
    at += 1
  }
  text[at] = QUOTE
  length = at + 1
}

export function finishJson(): string {
  if (length === 0) return '{}'
  text[0] = 0x7b
  text[length] = BRACE
  return text.toString('latin1', 0, length + 1)
}
