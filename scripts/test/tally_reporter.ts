import type { TestEvent } from 'node:test/reporters'

/** Test results and the reasons of skipped tests, as one line of JSON. */
export type Tally = {
  pass: number
  fail: number
  cancelled: number
  skipped: number
  reasons: Record<string, number>
}

const COUNT = /^(pass|fail|cancelled|skipped) (\d+)$/

/** A reporter for Node's test runner: `scripts/test.ts` prints what it counted after the run. */
export default async function* tallyReporter(events: AsyncIterable<TestEvent>) {
  const tally: Tally = { pass: 0, fail: 0, cancelled: 0, skipped: 0, reasons: {} }
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
      const reason = data.skip === true || data.skip === '' ? 'no reason given' : data.skip
      tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1
    }
    // The runner's own closing counts; those of a single file carry its name.
    if (type === 'test:diagnostic' && data.file === undefined) {
      const [, name, count] = COUNT.exec(data.message) ?? []
      if (name !== undefined) tally[name as 'pass'] = Number(count)
    }
  }
  yield `${JSON.stringify(tally)}\n`
}
