import { assert } from '#kernel/assert.ts'

/**
 * The two protobuf wire types of TRON transactions: varints and bytes. A txid is the hash of the
 * bytes, so encoding is canonical (fields in the caller's order, zeros omitted) and decoding
 * refuses everything else.
 */
const VARINT = 0
const BYTES = 2
const INT64_MAX = 2n ** 63n - 1n
const VARINT_BYTES_MAX = 10

export type ProtoField = readonly [number: number, value: bigint | Uint8Array]

export function protoBytes(fields: readonly ProtoField[]): Uint8Array {
  const parts: number[] = []
  for (const [number, value] of fields) {
    if (typeof value === 'bigint') {
      if (value === 0n) continue
      writeVarint(parts, BigInt((number << 3) | VARINT))
      writeVarint(parts, value)
    } else {
      if (value.length === 0) continue
      writeVarint(parts, BigInt((number << 3) | BYTES))
      writeVarint(parts, BigInt(value.length))
      for (const byte of value) parts.push(byte)
    }
  }
  return Uint8Array.from(parts)
}

/** Null if the bytes are truncated, have another wire type, or repeat a field. */
export function protoFields(bytes: Uint8Array): Map<number, bigint | Uint8Array> | null {
  const fields = new Map<number, bigint | Uint8Array>()
  let at = 0
  while (at < bytes.length) {
    const key = readVarint(bytes, at)
    if (key === null || key.value > 0xffff_ffffn) return null
    const number = Number(key.value >> 3n)
    const head = readVarint(bytes, key.next)
    if (head === null || number === 0 || fields.has(number)) return null
    const wire = Number(key.value & 7n)
    if (wire === VARINT) {
      fields.set(number, head.value)
      at = head.next
    } else if (wire === BYTES && head.value <= BigInt(bytes.length - head.next)) {
      at = head.next + Number(head.value)
      fields.set(number, bytes.slice(head.next, at))
    } else return null
  }
  return fields
}

export function numberField(fields: Map<number, bigint | Uint8Array>, number: number): bigint {
  const value = fields.get(number)
  return typeof value === 'bigint' ? value : 0n
}

export function bytesField(fields: Map<number, bigint | Uint8Array>, number: number): Uint8Array {
  const value = fields.get(number)
  return value instanceof Uint8Array ? value : new Uint8Array()
}

function writeVarint(parts: number[], value: bigint): void {
  assert(value >= 0n && value <= INT64_MAX, 'a written number is a non-negative int64')
  let rest = value
  while (rest > 127n) {
    parts.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  parts.push(Number(rest))
}

function readVarint(bytes: Uint8Array, start: number): { value: bigint; next: number } | null {
  let value = 0n
  for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
    const byte = bytes[start + count]
    if (byte === undefined) return null
    value |= BigInt(byte & 127) << BigInt(7 * count)
    if (byte < 128) return value > INT64_MAX ? null : { value, next: start + count + 1 }
  }
  return null
}
