import type { Kind } from './spec.ts'

/**
 * The ways a value stands on the wire. Characters are checked against a table of classes, one
 * look-up per byte, because a regular expression per element would be a third of the whole cost.
 */
export type TextEncoding = 'ascii' | 'ebcdic'
export type Encoding = TextEncoding | 'bcd' | 'bin'

const DIGIT = 1
const ALPHANUMERIC = 2
const PRINTABLE = 4
const TRACK = 8
const HEX = 16

/** Kind b is text only on links that write bytes as hex digits. */
export const class_of_kind: Readonly<Record<Kind, number>> = {
  n: DIGIT,
  an: ALPHANUMERIC,
  ans: PRINTABLE,
  b: HEX,
  z: TRACK,
}

const SPACE = 0x20
const TILDE = 0x7e

/** Spaces count as alphanumeric: peers pad elements 37, 38 and 95 with them. */
function classesOf(character: string): number {
  let classes = PRINTABLE
  if (/[0-9]/.test(character)) classes |= DIGIT
  if (/[0-9A-Za-z ]/.test(character)) classes |= ALPHANUMERIC
  if (/[0-9=D]/.test(character)) classes |= TRACK
  if (/[0-9A-Fa-f]/.test(character)) classes |= HEX
  return classes
}

/** EBCDIC code page 500 of the printable ASCII characters, from the space to the tilde. */
const CP500 = Buffer.from(
  '404f7f7b5b6c507d4d5d5c4e6b604b61f0f1f2f3f4f5f6f7f8f97a5e4c7e6e6f7cc1c2c3c4c5c6c7' +
    'c8c9d1d2d3d4d5d6d7d8d9e2e3e4e5e6e7e8e94ae05a5f6d79818283848586878889919293949596' +
    '979899a2a3a4a5a6a7a8a9c0bbd0a1',
  'hex',
)

export type TextCodec = {
  /** Classes of each byte on the wire; 0 for a byte that is no printable character. */
  readonly classes: Uint8Array
  readonly to_wire: Uint8Array
  readonly from_wire: Uint8Array
}

function textCodec(byteOf: (code: number) => number): TextCodec {
  const codec = {
    classes: new Uint8Array(256),
    to_wire: new Uint8Array(128),
    from_wire: new Uint8Array(256),
  }
  for (let code = SPACE; code <= TILDE; code += 1) {
    const byte = byteOf(code)
    codec.classes[byte] = classesOf(String.fromCharCode(code))
    codec.to_wire[code] = byte
    codec.from_wire[byte] = code
  }
  return codec
}

export const text_codecs: Readonly<Record<TextEncoding, TextCodec>> = {
  ascii: textCodec((code) => code),
  ebcdic: textCodec((code) => CP500[code - SPACE] as number),
}

const ascii_classes = text_codecs.ascii.classes

/** Writes the characters at a place and answers whether all of them were of the class. */
export function writeText(
  target: Uint8Array,
  at: number,
  text: { value: string; class: number; codec: TextCodec },
): boolean {
  const { value, codec } = text
  const wanted = text.class
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index)
    if (code > TILDE || ((ascii_classes[code] as number) & wanted) === 0) return false
    target[at + index] = codec.to_wire[code] as number
  }
  return true
}

export function isText(
  bytes: Uint8Array,
  range: { start: number; end: number },
  wanted: { class: number; codec: TextCodec },
): boolean {
  const { classes } = wanted.codec
  for (let at = range.start; at < range.end; at += 1) {
    if (((classes[bytes[at] as number] as number) & wanted.class) === 0) return false
  }
  return true
}

const NOT_A_NIBBLE = 255
const nibble_of_code = new Uint8Array(128).fill(NOT_A_NIBBLE)
for (let nibble = 0; nibble < 16; nibble += 1) {
  nibble_of_code[nibble.toString(16).charCodeAt(0)] = nibble
  nibble_of_code[nibble.toString(16).toUpperCase().charCodeAt(0)] = nibble
}

/** The value of a hex digit, or -1. */
export function nibbleOf(code: number): number {
  const nibble = code < 128 ? (nibble_of_code[code] as number) : NOT_A_NIBBLE
  return nibble === NOT_A_NIBBLE ? -1 : nibble
}

/** Writes pairs of hex digits as bytes and answers whether all of them were hex digits. */
export function writeHex(target: Uint8Array, at: number, value: string): boolean {
  for (let index = 0; index < value.length; index += 2) {
    const high = nibbleOf(value.charCodeAt(index))
    const low = nibbleOf(value.charCodeAt(index + 1))
    if (high < 0 || low < 0) return false
    target[at + (index >> 1)] = (high << 4) | low
  }
  return true
}

/** The separator of track data has no digit of its own: packed it is the nibble D. */
export const SEPARATOR_NIBBLE = 0xd

/** The nibble of a packed digit or track separator, or -1. */
export function packedNibbleOf(code: number, kind: Kind): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (kind === 'z' && (code === 0x3d || code === 0x44)) return SEPARATOR_NIBBLE
  return -1
}

/** One received message, seen as text, so that every element is a mere slice of it; a cursor. */
export class MessageReader {
  readonly bytes: Buffer
  /** How far the message has been read. */
  at = 0
  #ascii: string | undefined
  #ebcdic: string | undefined
  #hex: string | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  text(encoding: TextEncoding): string {
    if (encoding === 'ascii') {
      this.#ascii ??= this.bytes.toString('latin1')
      return this.#ascii
    }
    this.#ebcdic ??= this.#fromEbcdic()
    return this.#ebcdic
  }

  /** Two lower-case digits per byte. */
  hex(): string {
    this.#hex ??= this.bytes.toString('hex')
    return this.#hex
  }

  #fromEbcdic(): string {
    const { bytes } = this
    const { from_wire } = text_codecs.ebcdic
    const { length } = bytes
    const characters = length <= translated.length ? translated : Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at += 1) {
      characters[at] = from_wire[bytes[at] as number] as number
    }
    return characters.toString('latin1', 0, length)
  }
}

/** Room for an ordinary message in ASCII; it is read at once and never handed out. */
const translated = Buffer.alloc(1024)
