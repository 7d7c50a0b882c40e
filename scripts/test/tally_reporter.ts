import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { root } from '#platform/runtime/root.ts'

/** Test results, the reasons of skipped tests and the time by file, as one line of JSON. */
export type Tally = {
  pass: number
  fail: number
  cancelled: number
  skipped: number
  reasons: Record<string, number>
  /** Milliseconds spent in the tests of each file, without its start. */
  file_ms: Record<string, number>
}

const COUNT = /^(pass|fail|cancelled|skipped) (\d+)$/

/** A reporter for Node's test runner. `scripts/test.ts` prints its counts after the run. */
export default async function* tallyReporter(events: AsyncIterable<TestEvent>) {
  const tally: Tally = { pass: 0, fail: 0, cancelled: 0, skipped: 0, reasons: {}, file_ms: {} }
  for await (const { type, data } of events) {
    const isTest = type === 'test:pass' || type === 'test:fail'
    if (isTest && data.nesting === 0 && data.file !== undefined) {
      const file = relative(root, data.file)
      tally.file_ms[file] = (tally.file_ms[file] ?? 0) + data.details.duration_ms
    }
    if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
      const reason = data.skip === true || data.skip === '' ? 'no reason given' : data.skip
      tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1
    }
    // Only the totals of the whole run; counts of a single file have a file name.
    if (type === 'test:diagnostic' && data.file === undefined) {
      const [, name, count] = COUNT.exec(data.message) ?? []
      if (name !== undefined) tally[name as 'pass'] = Number(count)
    }
  }
  yield `${JSON.stringify(tally)}\n`
}
