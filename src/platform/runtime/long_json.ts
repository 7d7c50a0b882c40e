import { isAscii } from 'node:buffer'
import { JsonError, LONG_STRING, readJson, VALUES_MAX } from '#kernel/json.ts'
import { nextTurn } from './next_turn.ts'

/** Strings above this are taken out of the text before the rest of it is read. */
const LONG_STRING_LENGTH = 4_096
/** So much is decoded at a time: about a millisecond. */
const SLICE = 262_144
/** Everything beside long strings. Indented and with every field, a request has a tenth of it. */
const OUTLINE_LENGTH_MAX = 1_048_576
/** Twice as many as there may be values: keys are strings too. */
const STRINGS_MAX = 2 * VALUES_MAX
const STRINGS_A_TURN = 1_000
const ESCAPES_A_TURN = 20_000

const UNICODE_ESCAPE_LENGTH = '\\u0000'.length

/**
 * Reads JSON of megabytes without keeping the event loop for more than a few milliseconds at a
 * time. Only long strings, such as a file in base64, make a request that large: they are decoded
 * slice by slice, and the outline that is left is small enough to be read at once.
 */
export async function readLongJson(bytes: Buffer): Promise<unknown> {
  // The bytes were joined in this turn, and copying 25 MB takes some milliseconds each time.
  await nextTurn()
  const text = await decoded(bytes)
  await nextTurn()
  const outliner = new Outliner(text)
  const outline = await outliner.outline()
  await nextTurn()
  return readJson(outline, { long_strings: outliner.long_strings })
}

/** Throws a TypeError where the bytes are not UTF-8. */
async function decoded(bytes: Buffer): Promise<string> {
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

  /** The text with a mark in place of each long string. */
  async outline(): Promise<string> {
    let at = 0
    for (let strings = 0; strings <= STRINGS_MAX; strings += 1) {
      const start = this.#text.indexOf('"', at)
      this.#keep(at, start < 0 ? this.#text.length : start)
      if (start < 0) return this.#parts.join('')
      at = await this.#string(start)
      if (strings % STRINGS_A_TURN === 0) await nextTurn()
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

  /** Takes the string whose opening quote is at `start`; returns the position after it. */
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
      // At an escape: pieces are cut only before one, or where there is none.
      if (stop - piece_start > SLICE) {
        pieces.push(this.#decode(piece_start, stop))
        piece_start = stop
      }
      at = stop + (this.#text[stop + 1] === 'u' ? UNICODE_ESCAPE_LENGTH : 2)
      if (escapes % ESCAPES_A_TURN === 0) await nextTurn()
    }
  }

  /** The next quote or escape at or after a position. Each search goes on where the last ended. */
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
