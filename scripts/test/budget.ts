import type { Runner } from './runner.ts'
import { type NotRun, noTests, sumOf } from './summary.ts'
import type { Tally } from './tally_reporter.ts'

type BudgetRun = { code: number; tally: Tally; not_run: NotRun[] }

/**
 * Runs the files one after another until the time is up. Files that were cut off or not started are
 * listed at the end and do not fail the run.
 */
export async function runWithin(
  minutes: number,
  files: readonly string[],
  runner: Runner,
  url: string,
): Promise<BudgetRun> {
  const ends_at = performance.now() + minutes * 60_000
  const cut_off: string[] = []
  const not_begun: string[] = []
  let [code, tally] = [0, noTests]
  for (const file of files) {
    const left_ms = ends_at - performance.now()
    if (left_ms <= 0) {
      not_begun.push(file)
      continue
    }
    let is_over = false
    const timer = setTimeout(() => {
      is_over = true
      runner.cutOff()
    }, left_ms)
    const began = performance.now()
    const result = await runner.run([file], url)
    clearTimeout(timer)
    if (runner.wasStopped()) return { code: result.code, tally, not_run: [] }
    if (is_over) {
      cut_off.push(file)
      continue
    }
    console.log(`${file}: ${((performance.now() - began) / 1_000).toFixed(0)} s\n`)
    tally = sumOf(tally, result.tally)
    if (result.code !== 0) code = result.code
  }
  const budget = `budget of ${minutes} minutes`
  const not_run = [
    { reason: `cut off by the ${budget}: ${cut_off.join(', ')}`, files: cut_off },
    { reason: `left out for the ${budget}: ${not_begun.join(', ')}`, files: not_begun },
  ]
  return { code, tally, not_run }
}
