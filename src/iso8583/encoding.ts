import type { Kind } from './spec.ts'

/** The encodings of element values on the wire. */
export type TextEncoding = 'ascii' | 'ebcdic'
export type Encoding = TextEncoding | 'bcd' | 'bin'

/**
 * The characters that each kind allows as text. Peers pad elements 37, 38 and 95 with spaces, so
 * `an` allows them. Kind `b` is text only on links that send bytes as hex digits.
 */
const CHARACTERS: Readonly<Record<Kind, RegExp>> = {
  n: /^[0-9]*$/,
  an: /^[0-9A-Za-z ]*$/,
  ans: /^[ -~]*$/,
  b: /^[0-9A-Fa-f]*$/,
  z: /^[0-9=D]*$/,
}

export const isOfKind = (kind: Kind, value: string): boolean => CHARACTERS[kind].test(value)

const SPACE = 0x20
const TILDE = 0x7e

/** EBCDIC code page 500 for the printable ASCII characters, from space to tilde. */
const CP500 = Buffer.from(
  '404f7f7b5b6c507d4d5d5c4e6b604b61f0f1f2f3f4f5f6f7f8f97a5e4c7e6e6f7cc1c2c3c4c5c6c7' +
    'c8c9d1d2d3d4d5d6d7d8d9e2e3e4e5e6e7e8e94ae05a5f6d79818283848586878889919293949596' +
    '979899a2a3a4a5a6a7a8a9c0bbd0a1',
  'hex',
)

const ebcdic_to_ascii = new Uint8Array(256)
for (let code = SPACE; code <= TILDE; code += 1) {
  ebcdic_to_ascii[CP500[code - SPACE] as number] = code
}

/** Writes printable ASCII text in the encoding of the link. */
export function writeText(
  target: Uint8Array,
  at: number,
  { value, encoding }: { value: string; encoding: TextEncoding },
): void {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index)
    target[at + index] = encoding === 'ascii' ? code : (CP500[code - SPACE] as number)
  }
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

/** Writes pairs of hex digits as bytes. Returns false if a character is not a hex digit. */
export function writeHex(target: Uint8Array, at: number, value: string): boolean {
  for (let index = 0; index < value.length; index += 2) {
    const high = nibbleOf(value.charCodeAt(index))
    const low = nibbleOf(value.charCodeAt(index + 1))
    if (high < 0 || low < 0) return false
    target[at + (index >> 1)] = (high << 4) | low
  }
  return true
}

/** Packed track data has the nibble D as its separator. */
export const SEPARATOR_NIBBLE = 0xd

/** The nibble of a packed digit or track separator, or -1. */
export function packedNibbleOf(code: number, kind: Kind): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (kind === 'z' && (code === 0x3d || code === 0x44)) return SEPARATOR_NIBBLE
  return -1
}

/**
 * A received message and a read cursor. The whole message is converted to text or hex once, and
 * each element is a slice of that.
 */
export class MessageReader {
  readonly bytes: Buffer
  /** The offset of the next unread byte. */
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
    this.#ebcdic ??= this.#decodeEbcdic()
    return this.#ebcdic
  }

  /** Two lowercase digits per byte. */
  hex(): string {
    this.#hex ??= this.bytes.toString('hex')
    return this.#hex
  }

  /** Bytes that are not printable become NUL, which no kind allows. */
  #decodeEbcdic(): string {
    const characters = Buffer.allocUnsafe(this.bytes.length)
    for (let at = 0; at < characters.length; at += 1) {
      characters[at] = ebcdic_to_ascii[this.bytes[at] as number] as number
    }
    return characters.toString('latin1')
  }
}
