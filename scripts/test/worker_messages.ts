/** Messages of a run to a worker. */
export type Assignment = { type: 'run'; path: string } | { type: 'end' }

/** The result of one test. Nesting counts from 1, because the file is a suite. */
export type TestResult = {
  type: 'test'
  outcome: 'pass' | 'fail' | 'skip'
  name: string
  nesting: number
  ms: number
  /** The reason for a skip, or the error of a failure. */
  text: string
  /** It failed only because something came too late. */
  is_late?: boolean
}

/** Messages of a worker. `file` comes after the last hook of the file; its CPU is all so far. */
export type WorkerMessage =
  | TestResult
  | { type: 'diagnostic'; message: string; nesting: number }
  | { type: 'file'; error: string | null; resident_bytes: number; cpu_ms: number }
