/** Whole micro-dollars: 1 USD = 1,000,000. */
export type Micros = bigint

export const USD = 1_000_000n
export const CENT = 10_000n

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Between 0 and `top`. */
export const clamp = (value: bigint, top: bigint): bigint => most(0n, least(value, top))

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** UTC days and months; as text they sort by time. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
export const monthOf = (day: string): string => day.slice(0, 7)
