import { hash } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const INNER_PAD = 0x36
const OUTER_PAD = 0x5c

/**
 * HMAC-SHA-256 under one key, in base64url. Two plain hashes are what it is made of, and an object
 * of its own for every text, as createHmac makes one, would cost more than both.
 */
export function macUnder(key: Uint8Array): (text: string) => string {
  const padded = new Uint8Array(BLOCK_BYTES)
  padded.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key)
  const inner_key = padded.map((byte) => byte ^ INNER_PAD)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES)
  outer.set(padded.map((byte) => byte ^ OUTER_PAD))
  return (text) => {
    const inner = Buffer.allocUnsafe(BLOCK_BYTES + Buffer.byteLength(text))
    inner.set(inner_key)
    inner.write(text, BLOCK_BYTES)
    outer.write(hash('sha256', inner, 'binary'), BLOCK_BYTES, 'binary')
    return hash('sha256', outer, 'base64url')
  }
}
