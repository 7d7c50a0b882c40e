import { join } from 'node:path'
import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { root } from '#platform/runtime/root.ts'
import type { Assignment } from './worker_messages.ts'

// Node programs that tests start inherit these options, but must not report as this process does.
process.execArgv = process.execArgv.filter((option) => !option.startsWith('--test-reporter'))

/**
 * Runs the test files it is assigned, one after another, in one process: loading the service takes
 * longer than most files do. Each file is a suite, so its hooks run when its last test has ended.
 */
process.on('message', (assignment: Assignment) => {
  if (assignment.type === 'end') return process.disconnect()
  if (isOfPanel(assignment.path)) process.env['NODE_ENV'] ??= 'production'
  void describe(assignment.path, () => import(pathToFileURL(assignment.path).href))
})

/**
 * React's packages choose their build when they are loaded, and builds that differ fail. Tests get
 * the one that people use, which takes a third less CPU time. With NODE_ENV=development it warns.
 */
function isOfPanel(path: string): boolean {
  return path.startsWith(join(root, 'dist/panel'))
}
