import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Assignment } from './worker_messages.ts'

// Node programs that tests start inherit these options, but must not report as this process does.
process.execArgv = process.execArgv.filter((option) => !option.startsWith('--test-reporter'))

/**
 * Runs the test files it is assigned, one after another, in one process: loading the service takes
 * longer than most files do. Each file is a suite, so its hooks run when its last test has ended.
 */
process.on('message', (assignment: Assignment) => {
  if (assignment.type === 'end') process.disconnect()
  else void describe(assignment.path, () => import(pathToFileURL(assignment.path).href))
})
