import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'

/** RLP, Ethereum's encoding of lists and bytes. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** An item of a list: the bytes it holds, and the bytes it is in the list. */
export type DecodedItem = { content: Uint8Array; encoded: Uint8Array }

export function encodeRlp(item: RlpItem): Uint8Array {
  if (!(item instanceof Uint8Array)) return encodeList(item.map(encodeRlp))
  const isItself = item.length === 1 && (item[0] ?? 0) < 0x80
  return isItself ? item : concatBytes(prefixOf(item.length, 0x80), item)
}

/** A list of items that are encoded already. */
export function encodeList(encoded: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(...encoded)
  return concatBytes(prefixOf(content.length, 0xc0), content)
}

function prefixOf(bytes: number, offset: number): Uint8Array {
  if (bytes < 56) return Uint8Array.of(offset + bytes)
  const size = encodeInteger(bytes)
  return concatBytes(Uint8Array.of(offset + 55 + size.length), size)
}

/** The items of one list; null if the bytes are anything else. A list in it stays encoded. */
export function decodeList(bytes: Uint8Array): DecodedItem[] | null {
  const list = extentOf(bytes, 0)
  if ((bytes[0] ?? 0) < 0xc0 || list.end !== bytes.length) return null
  const items: DecodedItem[] = []
  for (let at = list.start; at < list.end; ) {
    const { start, end } = extentOf(bytes, at)
    if (end > list.end) return null
    items.push({ content: bytes.subarray(start, end), encoded: bytes.subarray(at, end) })
    at = end
  }
  return items
}

/** A byte below 0x80 is itself; otherwise it has the length, or the length of the length. */
function extentOf(bytes: Uint8Array, at: number): { start: number; end: number } {
  const first = bytes[at] ?? 0
  if (first < 0x80) return { start: at, end: at + 1 }
  const offset = first - (first < 0xc0 ? 0x80 : 0xc0)
  if (offset < 56) return { start: at + 1, end: at + 1 + offset }
  const start = at + 1 + (offset - 55)
  return { start, end: start + Number(decodeInteger(bytes.subarray(at + 1, start))) }
}

/** Integers have no leading zeros; zero is empty. */
export function encodeInteger(value: number | bigint | string): Uint8Array {
  const digits = BigInt(value).toString(16)
  return trimZeros(hexToBytes(digits.padStart(digits.length + (digits.length % 2), '0')))
}

export const decodeInteger = (bytes: Uint8Array | undefined): bigint =>
  bytes === undefined || bytes.length === 0 ? 0n : BigInt(`0x${bytesToHex(bytes)}`)

export function trimZeros(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  return start < 0 ? new Uint8Array() : bytes.subarray(start)
}
