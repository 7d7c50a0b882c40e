import { randomBytes, randomInt } from 'node:crypto'

/** Randomness, injected so that a simulation can replay a run from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  below(limit: number): number
}

const POOL_BYTES = 8_192

/** Asking the system costs the same for ten bytes as for thousands, and ids ask all the time. */
let pool = Buffer.alloc(0)

function pooledBytes(count: number): Uint8Array {
  if (count > POOL_BYTES / 8) return randomBytes(count)
  if (pool.length < count) pool = randomBytes(POOL_BYTES)
  const bytes = new Uint8Array(pool.subarray(0, count))
  // Given out once: what was a key must not stay behind in the pool.
  pool.fill(0, 0, count)
  pool = pool.subarray(count)
  return bytes
}

export const systemRandom: Random = {
  bytes: pooledBytes,
  below: (limit) => randomInt(limit),
}
