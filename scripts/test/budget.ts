import type { Runner, RunResult } from './runner.ts'
import type { NotRun } from './summary.ts'

/**
 * Runs the files until the time is up. Files that were cut off or not started are listed at the end
 * and do not fail the run.
 */
export async function runWithin(
  minutes: number,
  files: readonly string[],
  runner: Runner,
  url: string,
): Promise<RunResult & { not_run: NotRun[] }> {
  const timer = setTimeout(runner.cutOff, minutes * 60_000)
  const result = await runner.run(files, url)
  clearTimeout(timer)
  const left_out = files.filter((file) => result.tally.file_ms[file] === undefined)
  const reason = `the budget of ${minutes} minutes was used up: ${left_out.join(', ')}`
  return { ...result, not_run: [{ reason, files: left_out }] }
}
