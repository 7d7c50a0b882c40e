import { isAscii } from 'node:buffer'
import { JsonError, LONG_STRING, readJson, VALUES_MAX } from '#kernel/json.ts'
import { nextTurn } from './next_turn.ts'

/** Longer strings are taken out of the text before the rest is parsed. */
const LONG_STRING_LENGTH = 4_096
/** Decoding this many characters takes about a millisecond. */
const SLICE = 262_144
/** The text without its long strings. The largest valid request has a tenth of this. */
const OUTLINE_LENGTH_MAX = 1_048_576
/** Twice the number of values: keys are strings too. */
const STRINGS_MAX = 2 * VALUES_MAX
const STRINGS_PER_TURN = 1_000
const ESCAPES_PER_TURN = 20_000

const UNICODE_ESCAPE_LENGTH = '\\u0000'.length

/**
 * Parses megabytes of JSON without blocking the event loop for more than a few milliseconds. Only
 * long strings, such as a file in base64, make a request that large. They are decoded in slices,
 * and the remaining outline is small enough to be parsed in one go.
 */
export async function readLongJson(bytes: Buffer): Promise<unknown> {
  // The caller joined the bytes in this turn: copying 25 MB takes some milliseconds.
  await nextTurn()
  const text = await decodeUtf8(bytes)
  await nextTurn()
  const outliner = new Outliner(text)
  const outline = await outliner.outline()
  await nextTurn()
  return readJson(outline, { long_strings: outliner.long_strings })
}

/** Throws a TypeError if the bytes are not UTF-8. */
async function decodeUtf8(bytes: Buffer): Promise<string> {
  if (isAscii(bytes)) return bytes.toString('latin1')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += SLICE) {
    parts.push(decoder.decode(bytes.subarray(at, at + SLICE), { stream: true }))
    await nextTurn()
  }
  return parts.join('') + decoder.decode()
}

class Outliner {
  readonly long_strings: string[] = []
  readonly #text: string
  readonly #parts: string[] = []
  #length = 0
  #next_quote = -1
  #next_escape = -1

  constructor(text: string) {
    this.#text = text
  }

  /** The text with a placeholder for each long string. */
  async outline(): Promise<string> {
    let at = 0
    for (let strings = 0; strings <= STRINGS_MAX; strings += 1) {
      const start = this.#text.indexOf('"', at)
      this.#keep(at, start < 0 ? this.#text.length : start)
      if (start < 0) return this.#parts.join('')
      at = await this.#string(start)
      if (strings % STRINGS_PER_TURN === 0) await nextTurn()
    }
    throw new JsonError('it has too many values')
  }

  /** Copies a part of the text into the outline. */
  #keep(start: number, end: number): void {
    this.#length += end - start
    if (this.#length > OUTLINE_LENGTH_MAX) {
      throw new JsonError(`it has more than ${OUTLINE_LENGTH_MAX} characters beside long strings`)
    }
    const part = this.#text.slice(start, end)
    if (part.includes(LONG_STRING)) throw new JsonError('it contains a control character')
    this.#parts.push(part)
  }

  /** Reads the string whose opening quote is at `start`; returns the position after it. */
  async #string(start: number): Promise<number> {
    const pieces: string[] = []
    let piece_start = start + 1
    let at = piece_start
    for (let escapes = 1; ; escapes += 1) {
      const stop = this.#stopAfter(at)
      if (stop - at > SLICE) {
        if (at > piece_start) pieces.push(this.#decode(piece_start, at))
        for (piece_start = at; stop - piece_start > SLICE; piece_start += SLICE) {
          pieces.push(this.#decode(piece_start, piece_start + SLICE))
          await nextTurn()
        }
      }
      if (stop === this.#next_quote) {
        if (stop - start < LONG_STRING_LENGTH) this.#keep(start, stop + 1)
        else {
          pieces.push(this.#decode(piece_start, stop))
          this.long_strings.push(pieces.join(''))
          this.#parts.push(LONG_STRING)
        }
        return stop + 1
      }
      // Pieces are never cut inside an escape.
      if (stop - piece_start > SLICE) {
        pieces.push(this.#decode(piece_start, stop))
        piece_start = stop
      }
      at = stop + (this.#text[stop + 1] === 'u' ? UNICODE_ESCAPE_LENGTH : 2)
      if (escapes % ESCAPES_PER_TURN === 0) await nextTurn()
    }
  }

  /** The next quote or escape at or after a position. Each search continues from the last hit. */
  #stopAfter(at: number): number {
    if (this.#next_quote < at) this.#next_quote = this.#text.indexOf('"', at)
    if (this.#next_quote < 0) throw new JsonError('a string is not closed')
    if (this.#next_escape < at) {
      const found = this.#text.indexOf('\\', at)
      this.#next_escape = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return Math.min(this.#next_quote, this.#next_escape)
  }

  #decode(start: number, end: number): string {
    try {
      return JSON.parse(`"${this.#text.slice(start, end)}"`) as string
    } catch {
      throw new JsonError('a string holds a bad escape or a control character')
    }
  }
}
