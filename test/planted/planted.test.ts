import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { applyEdit, editedText, NotApplied, unfitEdits } from '#scripts/planted/edit.ts'
import { runTests } from '#scripts/planted/run_tests.ts'
import { summaryOf, verdictOf } from '#scripts/planted/verdict.ts'
import { planted_bugs } from './bugs.ts'
import type { PlantedBug } from './planted_bug.ts'

const bug: PlantedBug = {
  name: 'wrong_sign',
  file: 'sum.ts',
  find: 'a + b',
  replace: 'a - b',
  breaks: 'A sum is the sum of both.',
  tests: ['sum.test.ts'],
}

/** A tree with one source file, its test and the build of both. */
function smallTree(t: { after(work: () => void): void }, built_test: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'florin-planted-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const reporter = 'dist/scripts/planted/failure_reporter.js'
  mkdirSync(join(folder, 'dist/scripts/planted'), { recursive: true })
  writeFileSync(join(folder, 'dist/package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, reporter), readFileSync(join(root, reporter)))
  writeFileSync(join(folder, 'sum.ts'), 'export const sum = (a, b) => a + b\n')
  writeFileSync(join(folder, 'sum.test.ts'), '')
  writeFileSync(join(folder, 'dist/sum.test.js'), built_test)
  return folder
}

// Node's test runner ignores files when it finds itself inside a test.
const { NODE_TEST_CONTEXT: _, ...env } = process.env

const run = (folder: string, within_ms = 30_000) =>
  runTests(folder, {
    files: bug.tests,
    env,
    within_ms,
    stopped: new AbortController().signal,
  })

test('every planted bug still fits the sources and names existing tests', () => {
  assert.deepEqual(unfitEdits(root, planted_bugs), [])
  const names = planted_bugs.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)])
  for (const { name, tests, breaks } of planted_bugs) {
    assert.ok(tests.length > 0, `${name} names no test`)
    assert.match(breaks, /^[A-Z0-9].*\.$/, name)
  }
})

test('an edit whose text is missing, ambiguous or unchanged is refused', () => {
  assert.equal(editedText('x = a + b', bug), 'x = a - b')
  assert.throws(() => editedText('x = a', bug), NotApplied)
  assert.throws(() => editedText('x = a + b + (a + b)', bug), NotApplied)
  assert.throws(() => editedText('x = a + b', { ...bug, replace: bug.find }), NotApplied)
  assert.equal(editedText('a + b', { ...bug, replace: "$'" }), "$'")
})

test('a tree is restored with its times after an edit', (t) => {
  const folder = smallTree(t, '')
  const path = join(folder, bug.file)
  const [text, { mtimeMs }] = [readFileSync(path, 'utf8'), statSync(path)]
  const restore = applyEdit(folder, bug)
  assert.equal(readFileSync(path, 'utf8'), text.replace('a + b', 'a - b'))
  restore()
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.ok(Math.abs(statSync(path).mtimeMs - mtimeMs) < 1)
  assert.deepEqual(unfitEdits(folder, [bug, { ...bug, tests: ['none.test.ts'] }]), [
    'wrong_sign: there is no file none.test.ts',
  ])
})

test('a bug is found by the test that failed, and only by a test', async (t) => {
  const failing = `import { test } from 'node:test'
    test('groups', async (t) => { await t.test('one fails', () => { throw new Error('no') }) })`
  const found = verdictOf('bug', await run(smallTree(t, failing)))
  assert.deepEqual([found.result, found.detail], ['found', 'one fails'])

  const passing = `import { test } from 'node:test'\ntest('passes', () => {})`
  const survived = verdictOf('bug', await run(smallTree(t, passing)))
  assert.deepEqual([survived.result, survived.detail], ['SURVIVED', 'all tests passed'])

  const crashing = `import 'no_such_package'`
  const crashed = verdictOf('bug', await run(smallTree(t, crashing)))
  assert.deepEqual([crashed.result, crashed.detail], ['SURVIVED', 'no test failed by name'])
})

test('tests that do not end in time are killed, and their bug has survived', async (t) => {
  const hanging = `import { test } from 'node:test'
    test('hangs', () => new Promise(() => setInterval(() => {}, 1_000)))`
  const { result, detail } = verdictOf('bug', await run(smallTree(t, hanging), 1_500))
  assert.deepEqual([result, detail], ['SURVIVED', 'the tests did not end in time'])
})

test('one survivor makes the run fail', () => {
  const found = { name: 'a', result: 'found', seconds: 1, detail: 'a test' } as const
  const survived = { ...found, name: 'b', result: 'SURVIVED', detail: 'all passed' } as const
  assert.deepEqual(summaryOf([found]), { lines: ['1 of 1 planted bugs found'], code: 0 })
  const { lines, code } = summaryOf([found, survived, { ...found, result: 'not applied' }])
  assert.equal(code, 1)
  assert.equal(lines[0], '1 of 3 planted bugs found')
  assert.match(lines[1] ?? '', /SURVIVED .* b /)
})
