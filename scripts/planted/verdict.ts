import type { TestRun } from './run_tests.ts'

export type Verdict = {
  name: string
  result: 'found' | 'SURVIVED' | 'not applied'
  seconds: number
  /** The test that noticed, or the reason why none did. */
  detail: string
}

/** A bug is found only by a test that fails; a crash or a hang names no guarantee. */
export function verdictOf(name: string, { failed, ms, code }: TestRun): Verdict {
  const seconds = ms / 1_000
  if (failed !== undefined) return { name, result: 'found', seconds, detail: failed }
  if (code === 0) return { name, result: 'SURVIVED', seconds, detail: 'all tests passed' }
  const detail = code === null ? 'the tests did not end in time' : 'no test failed by name'
  return { name, result: 'SURVIVED', seconds, detail }
}

export const lineOf = ({ name, result, seconds, detail }: Verdict): string =>
  `${result.padEnd(11)} ${seconds.toFixed(1).padStart(5)} s  ${name.padEnd(34)} ${detail}`

/** The last lines of a run, and its exit code. */
export function summaryOf(verdicts: readonly Verdict[]): { lines: string[]; code: number } {
  const missed = verdicts.filter(({ result }) => result !== 'found')
  const found = verdicts.length - missed.length
  const lines = [`${found} of ${verdicts.length} planted bugs found`, ...missed.map(lineOf)]
  return { lines, code: missed.length === 0 ? 0 : 1 }
}
