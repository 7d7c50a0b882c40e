/** A prime, so timestamps that are whole days apart do not share a slot. */
const SLOTS = 61
const moments_ms = new Float64Array(SLOTS).fill(Number.NaN)
const texts = new Array<string>(SLOTS).fill('')

/**
 * The ISO 8601 text of a timestamp. A batch shares a few timestamps, and toISOString costs as much
 * as ten other values, so the latest results are cached.
 */
export function timestampText(moment: Date): string {
  const at_ms = moment.getTime()
  const slot = Math.abs(at_ms) % SLOTS
  if (moments_ms[slot] !== at_ms) {
    texts[slot] = moment.toISOString()
    moments_ms[slot] = at_ms
  }
  return texts[slot] as string
}
