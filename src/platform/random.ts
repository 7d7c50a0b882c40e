import { randomBytes, randomInt } from 'node:crypto'

/** Randomness, injected so that a simulation can replay a run from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  below(limit: number): number
}

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  below: (limit) => randomInt(limit),
}
