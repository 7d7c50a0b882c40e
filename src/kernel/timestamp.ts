/** A prime, so timestamps that are whole days apart do not share a slot. */
const SLOTS = 61
const timestamps_ms = new Float64Array(SLOTS).fill(Number.NaN)
const texts = new Array<string>(SLOTS).fill('')

/**
 * The ISO 8601 text of a timestamp. A batch shares a few timestamps, and toISOString takes a
 * microsecond, so the latest results are cached: 4 % of a card message (bench/authorizations).
 */
export function timestampText(timestamp: Date): string {
  const at_ms = timestamp.getTime()
  const slot = Math.abs(at_ms) % SLOTS
  if (timestamps_ms[slot] !== at_ms) {
    texts[slot] = timestamp.toISOString()
    timestamps_ms[slot] = at_ms
  }
  return texts[slot] as string
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A UTC day in a sentence for a person: Nov 18, 2026. */
export function formatDay(at: Date): string {
  return `${MONTHS[at.getUTCMonth()]} ${at.getUTCDate()}, ${at.getUTCFullYear()}`
}

/** To the minute, in UTC, because the reader's time zone is unknown: Nov 18, 2026, 09:30 UTC. */
export function formatTimestamp(at: Date): string {
  return `${formatDay(at)}, ${timestampText(at).slice(11, 16)} UTC`
}
