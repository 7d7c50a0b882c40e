import { randomBytes, randomInt } from 'node:crypto'

/** Randomness, injected so that a simulation can replay a run from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  below(limit: number): number
}

const POOL_BYTES = 8_192

/** Asking the system costs the same for ten bytes as for thousands, and ids ask all the time. */
let pool = new Uint8Array(0)
let given = 0

function pooledBytes(count: number): Uint8Array {
  if (count > POOL_BYTES / 8) return randomBytes(count)
  if (pool.length < given + count) {
    pool = new Uint8Array(randomBytes(POOL_BYTES))
    given = 0
  }
  const bytes = pool.slice(given, given + count)
  // Given out once: what was a key must not stay behind in the pool.
  pool.fill(0, given, given + count)
  given += count
  return bytes
}

export const systemRandom: Random = {
  bytes: pooledBytes,
  below: (limit) => randomInt(limit),
}
