/** A prime: moments that lie whole days apart are not to share a slot. */
const SLOTS = 61
const moments_ms = new Float64Array(SLOTS).fill(Number.NaN)
const texts = new Array<string>(SLOTS).fill('')

/**
 * A moment as answers and events say it. Those of one batch share a few moments, and writing one
 * out costs as much as ten other values: the last ones are kept.
 */
export function momentText(moment: Date): string {
  const at_ms = moment.getTime()
  const slot = Math.abs(at_ms) % SLOTS
  if (moments_ms[slot] !== at_ms) {
    texts[slot] = moment.toISOString()
    moments_ms[slot] = at_ms
  }
  return texts[slot] as string
}
