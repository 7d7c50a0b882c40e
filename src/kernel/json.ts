import { decimalParts } from './money.ts'

/**
 * A strict JSON parser. JSON.parse rounds 9007199254740993, reads 1e400 as Infinity and keeps the
 * last of two equal keys; for money these must be errors. A number that a float cannot hold exactly
 * becomes an InexactNumber, which no schema accepts as a number; other values are plain.
 */
export class InexactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export class JsonError extends Error {}

const DEPTH_MAX = 100
/** Ten times the largest request of the contract; a value costs about 100 bytes. */
export const VALUES_MAX = 10_000
/** No amount needs this many characters, and parsing a million digits takes seconds. */
const NUMBER_LENGTH_MAX = 400
/** A long string in an outline (platform/runtime/long_json.ts); JSON text cannot contain it. */
export const LONG_STRING = '\u0001'
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const [QUOTE, BACKSLASH, SPACE] = [34, 92, 32]
/** A float holds every integer with this many digits exactly. */
const EXACT_DIGITS = 15

export type JsonBounds = {
  values_max?: number
  /** The long strings of an outline, in their order. */
  long_strings?: readonly string[]
}

export function readJson(text: string, bounds: JsonBounds = {}): unknown {
  const reader = new Reader(text, bounds)
  const value = reader.value(0)
  reader.end()
  return value
}

class Reader {
  readonly #text: string
  readonly #long_strings: readonly string[]
  #values_left: number
  #long_strings_used = 0
  #at = 0

  constructor(text: string, { values_max = VALUES_MAX, long_strings = [] }: JsonBounds) {
    this.#text = text
    this.#values_left = values_max
    this.#long_strings = long_strings
    this.#skipSpace()
  }

  value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new JsonError(`nested more than ${DEPTH_MAX} levels deep`)
    this.#values_left -= 1
    if (this.#values_left < 0) throw new JsonError('it has too many values')
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth)
      case '[':
        return this.#array(depth)
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      case LONG_STRING:
        return this.#longString()
      default:
        return this.#number()
    }
  }

  end(): void {
    if (this.#at < this.#text.length) this.#refuse('unexpected text after the end')
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#take('{')
    if (this.#text[this.#at] === '}') {
      this.#take('}')
      return object
    }
    for (;;) {
      if (this.#text[this.#at] !== '"') this.#refuse('expected a quoted key')
      const key = this.#string()
      if (Object.hasOwn(object, key)) this.#refuse('duplicate key')
      this.#take(':')
      // Defined, not assigned, so "__proto__" stays an ordinary key that validation can refuse.
      const value = this.value(depth + 1)
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, enumerable: true })
      } else object[key] = value
      if (this.#text[this.#at] === '}') break
      this.#take(',')
    }
    this.#take('}')
    return object
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = []
    this.#take('[')
    if (this.#text[this.#at] === ']') {
      this.#take(']')
      return array
    }
    for (;;) {
      array.push(this.value(depth + 1))
      if (this.#text[this.#at] === ']') break
      this.#take(',')
    }
    this.#take(']')
    return array
  }

  #string(): string {
    const start = this.#at
    const plain_end = this.#plainEnd(start + 1)
    if (plain_end > 0) {
      this.#at = plain_end + 1
      this.#skipSpace()
      return this.#text.slice(start + 1, plain_end)
    }
    let end = start
    do {
      end = this.#text.indexOf('"', end + 1)
      if (end < 0) return this.#refuse('unterminated string')
    } while (this.#backslashesBefore(end) % 2 === 1)
    this.#at = end + 1
    this.#skipSpace()
    return this.#unescape(this.#text.slice(start, end + 1))
  }

  #longString(): string {
    const text = this.#long_strings[this.#long_strings_used]
    if (text === undefined) return this.#refuse('expected a value')
    this.#long_strings_used += 1
    this.#take(LONG_STRING)
    return text
  }

  /** The end of a string without escapes, by character codes: most of a message is strings. */
  #plainEnd(start: number): number {
    for (let at = start; ; at += 1) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) return at
      // charCodeAt is NaN after the end of the text.
      if (code === BACKSLASH || !(code >= SPACE)) return -1
    }
  }

  #backslashesBefore(end: number): number {
    let at = end
    while (this.#text[at - 1] === '\\') at -= 1
    return end - at
  }

  #unescape(quoted: string): string {
    try {
      return JSON.parse(quoted) as string
    } catch {
      return this.#refuse('invalid escape or control character in a string')
    }
  }

  #number(): number | InexactNumber {
    const text = this.#match(NUMBER)
    if (text === null) return this.#refuse('expected a value')
    if (text.length > NUMBER_LENGTH_MAX) return new InexactNumber(text)
    const number = Number(text)
    return isFaithful(text, number) ? number : new InexactNumber(text)
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#refuse('expected a value')
    this.#at += word.length
    this.#skipSpace()
    return value
  }

  #take(character: string): void {
    if (this.#text[this.#at] !== character) this.#refuse(`expected "${character}"`)
    this.#at += 1
    this.#skipSpace()
  }

  #match(pattern: RegExp): string | null {
    const start = this.#at
    pattern.lastIndex = start
    if (!pattern.test(this.#text)) return null
    this.#at = pattern.lastIndex
    const found = this.#text.slice(start, this.#at)
    this.#skipSpace()
    return found
  }

  /** Compares character codes: usually there is no space, and a regex costs as much as a value. */
  #skipSpace(): void {
    let code = this.#text.charCodeAt(this.#at)
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      this.#at += 1
      code = this.#text.charCodeAt(this.#at)
    }
  }

  #refuse(reason: string): never {
    throw new JsonError(`${reason} at character ${this.#at + 1}`)
  }
}

/** True if the float prints the same decimal as the text, in any notation. */
function isFaithful(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return false
  if (text.length <= EXACT_DIGITS && !text.startsWith('-0') && !/[eE]/.test(text)) return true
  const written = decimalParts(text)
  const held = decimalParts(String(number))
  return (
    written !== null &&
    held !== null &&
    written.negative === held.negative &&
    written.whole === held.whole &&
    written.fraction === held.fraction
  )
}
