import assert from 'node:assert/strict'

const PAUSE_MS_MAX = 1_000
const PAUSE = /(?:It refused calls for|given up after) (\d+) ms/g

/** A cell waits less than a second for each attempt to switch it, by the command's own figures. */
export function assertShortPauses(output: string): void {
  const pauses = [...output.matchAll(PAUSE)].map(([, ms]) => Number(ms))
  assert.ok(pauses.length > 0, output)
  for (const ms of pauses) assert.ok(ms < PAUSE_MS_MAX, output)
}
