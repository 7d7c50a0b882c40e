import { type RunResult, testRunner } from '#scripts/test/runner.ts'

type Options = {
  silent_max_ms?: number
  workers?: number
  forgives_late?: boolean
  /** The server on which the files may create databases; by default they have none. */
  database_url?: string
}

/** Runs test files, given by absolute path or source path, as `npm test` does. */
export function runFiles(
  files: readonly string[],
  env: Record<string, string> = {},
  { database_url = '', ...limits }: Options = {},
): Promise<RunResult> {
  const { NODE_TEST_CONTEXT: _, ...own_env } = process.env
  const options = { verbose: false, workers: 1, stdout: { write: () => undefined }, ...limits }
  const runner = testRunner({ ...own_env, ...env }, options)
  return runner.run(files, database_url)
}
