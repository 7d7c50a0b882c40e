import type { TestResult } from './worker_messages.ts'

/**
 * Test results, the reasons of skipped tests, and the time by file. The CPU time is that of the
 * worker alone: its database and the processes it started are not in it.
 */
export type Tally = {
  pass: number
  fail: number
  skip: number
  reasons: Record<string, number>
  file_ms: Record<string, number>
  file_cpu_ms: Record<string, number>
}

export const noTests = (): Tally => ({
  pass: 0,
  fail: 0,
  skip: 0,
  reasons: {},
  file_ms: {},
  file_cpu_ms: {},
})

export function countResult(tally: Tally, { outcome, text }: TestResult): void {
  tally[outcome] += 1
  if (outcome === 'skip') tally.reasons[text] = (tally.reasons[text] ?? 0) + 1
}

export function sumOf(one: Tally, two: Tally): Tally {
  const reasons = { ...one.reasons }
  for (const [reason, count] of Object.entries(two.reasons)) {
    reasons[reason] = (reasons[reason] ?? 0) + count
  }
  return {
    pass: one.pass + two.pass,
    fail: one.fail + two.fail,
    skip: one.skip + two.skip,
    reasons,
    file_ms: { ...one.file_ms, ...two.file_ms },
    file_cpu_ms: { ...one.file_cpu_ms, ...two.file_cpu_ms },
  }
}

export const counted = (count: number, noun: string) =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Test files that were not run, with the reason they share. */
export type NotRun = { reason: string; files: readonly string[] }

const SLOWEST_SHOWN = 15

/** The slowest files, to speed up first. */
export function slowestFiles({ file_ms, file_cpu_ms }: Tally): string[] {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1).padStart(6)
  return Object.entries(file_ms)
    .sort(([, one], [, two]) => two - one)
    .slice(0, SLOWEST_SHOWN)
    .map(([file, ms]) => `  ${seconds(ms)} s, ${seconds(file_cpu_ms[file] ?? 0)} s of CPU  ${file}`)
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
    `${tally.pass} passed, ${tally.fail} failed, ${tally.skip} skipped`,
  ]
}
