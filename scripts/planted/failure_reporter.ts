import type { TestEvent } from 'node:test/reporters'

/** Names each failed test in a line, as soon as it has failed. */
export default async function* failureReporter(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue
    const cause = data.details.error as Error & { failureType?: string }
    // A file or a group fails because of a test in it, and a test after a failed hook isn't run.
    if (data.name.endsWith('.test.js') || cause.failureType === 'subtestsFailed') continue
    if (cause.failureType === 'cancelledByParent') continue
    yield `${data.name.replaceAll('\n', ' ')}\n`
  }
}
