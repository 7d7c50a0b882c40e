import type { Tally } from './tally_reporter.ts'

export const noTests: Tally = {
  pass: 0,
  fail: 0,
  cancelled: 0,
  skipped: 0,
  reasons: {},
  file_ms: {},
}

export function sumOf(one: Tally, two: Tally): Tally {
  const reasons = { ...one.reasons }
  for (const [reason, count] of Object.entries(two.reasons)) {
    reasons[reason] = (reasons[reason] ?? 0) + count
  }
  return {
    pass: one.pass + two.pass,
    fail: one.fail + two.fail,
    cancelled: one.cancelled + two.cancelled,
    skipped: one.skipped + two.skipped,
    reasons,
    file_ms: { ...one.file_ms, ...two.file_ms },
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Test files that were not run, with the reason they share. */
export type NotRun = { reason: string; files: readonly string[] }

const SLOWEST_SHOWN = 15

/** The slowest files, to speed up first. */
export function slowestFiles({ file_ms }: Tally): string[] {
  return Object.entries(file_ms)
    .sort(([, one], [, two]) => two - one)
    .slice(0, SLOWEST_SHOWN)
    .map(([file, ms]) => `  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${file}`)
}

/** The last lines of a run: skipped tests with reasons, and the counts that CI reads. */
export function closingLines(tally: Tally, not_run: readonly NotRun[]): string[] {
  const skipped = Object.entries(tally.reasons)
    .sort(([, one], [, two]) => two - one)
    .map(([reason, count]) => `  ${counted(count, 'test')} skipped: ${reason}`)
  const files = not_run
    .filter((each) => each.files.length > 0)
    .map((each) => `  ${counted(each.files.length, 'file')} not run: ${each.reason}`)
  const left_out = [...skipped, ...files]
  return [
    ...(left_out.length === 0 ? [] : ['Not run:', ...left_out]),
    `${tally.pass} passed, ${tally.fail + tally.cancelled} failed, ${tally.skipped} skipped`,
  ]
}
