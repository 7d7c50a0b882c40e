import { randomBytes, randomInt } from 'node:crypto'

/** Injected, so that a test can replay a run from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  below(limit: number): number
}

const POOL_BYTES = 8_192

/**
 * Bytes for ids are taken from a pool: asking the system for ten bytes takes 25 times as long, and
 * every write makes several ids. Gains 5 % of a card message (`npm run bench -- authorizations`).
 */
let pool = new Uint8Array(0)
let used = 0

function takeBytes(count: number): Uint8Array {
  if (count > POOL_BYTES / 8) return randomBytes(count)
  if (pool.length < used + count) {
    pool = new Uint8Array(randomBytes(POOL_BYTES))
    used = 0
  }
  const bytes = pool.slice(used, used + count)
  // The bytes may become a key, so no copy stays in the pool.
  pool.fill(0, used, used + count)
  used += count
  return bytes
}

export const systemRandom: Random = {
  bytes: takeBytes,
  below: (limit) => randomInt(limit),
}
