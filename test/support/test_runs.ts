import { type RunResult, testRunner } from '#scripts/test/runner.ts'

/** Runs test files, given by absolute path, as `npm test` does. */
export function runFiles(
  files: readonly string[],
  env: Record<string, string> = {},
  limits: { silent_max_ms?: number } = {},
): Promise<RunResult> {
  const { NODE_TEST_CONTEXT: _, ...own_env } = process.env
  const options = { verbose: false, workers: 1, stdout: { write: () => undefined }, ...limits }
  const runner = testRunner({ ...own_env, ...env }, options)
  return runner.run(files, '')
}
