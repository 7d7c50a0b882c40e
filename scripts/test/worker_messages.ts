/** What a run tells a worker. */
export type Assignment = { type: 'run'; path: string } | { type: 'end' }

/** The result of one test. Nesting counts from 1, because the file is a suite. */
export type TestResult = {
  type: 'test'
  outcome: 'pass' | 'fail' | 'skip'
  name: string
  nesting: number
  ms: number
  /** Why it was skipped, or the error of a failure. */
  text: string
}

/** What a worker reports. `file` comes after the last hook of the file; its CPU is all so far. */
export type WorkerMessage =
  | TestResult
  | { type: 'diagnostic'; message: string; nesting: number }
  | { type: 'file'; error: string | null; resident_bytes: number; cpu_ms: number }
