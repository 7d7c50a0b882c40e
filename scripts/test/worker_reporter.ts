import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import type { WorkerMessage } from './worker_messages.ts'

/** A reporter for Node's test runner that sends every result to its parent process. */
export default async function* workerReporter(events: AsyncIterable<TestEvent>) {
  for await (const event of events) {
    const message = messageOf(event)
    if (message !== null) process.send?.(message)
  }
  yield ''
}

function messageOf(event: TestEvent): WorkerMessage | null {
  if (event.type === 'test:diagnostic') {
    const { message, nesting, file } = event.data
    // Totals of the whole process have no file.
    return file === undefined ? null : { type: 'diagnostic', message, nesting }
  }
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return null
  const { name, nesting, details } = event.data
  const ms = details.duration_ms
  const error = event.type === 'test:fail' ? event.data.details.error : null
  if (nesting === 0) {
    const resident_bytes = process.memoryUsage.rss()
    const { user, system } = process.cpuUsage()
    const cpu_ms = (user + system) / 1_000
    return { type: 'file', error: ownError(error), resident_bytes, cpu_ms }
  }
  if (details.type === 'suite') return null
  if (error !== null) {
    const is_late = isLate(error)
    return { type: 'test', outcome: 'fail', name, nesting, ms, text: textOf(error), is_late }
  }
  const { skip = false } = event.data
  if (skip === false) return { type: 'test', outcome: 'pass', name, nesting, ms, text: '' }
  const text = skip === true || skip === '' ? 'no reason given' : skip
  return { type: 'test', outcome: 'skip', name, nesting, ms, text }
}

type Failure = Error & { failureType?: string; cause?: unknown }

/** A file also fails when one of its tests does, which has been reported already. */
function ownError(error: Failure | null): string | null {
  return error === null || error.failureType === 'subtestsFailed' ? null : textOf(error)
}

const isLate = ({ cause }: Failure): boolean => cause instanceof Error && cause.name === 'TooLate'

const textOf = (error: Failure): string => {
  const { cause } = error
  return cause instanceof Error ? inspect(cause) : String(cause ?? error.message)
}
