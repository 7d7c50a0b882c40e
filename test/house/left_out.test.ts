import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { closingLines, noTests, sumOf } from '#scripts/test/summary.ts'
import type { Tally } from '#scripts/test/tally_reporter.ts'
import { reasonWithout } from '#test/support/tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'florin-left-out-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs a test file that needs Redis on a machine whose path is empty. */
function runWithoutRedis(ci: string): { code: number | null; text: string; tally: Tally } {
  const file = join(folder, 'redis.test.mjs')
  writeFileSync(
    file,
    `import { test } from 'node:test'
    import { requireTool } from '${join(root, 'dist/test/support/tools.js')}'
    test('one', (t) => { requireTool('redis-server', t) })
    test('two', (t) => { requireTool('redis-server', t) })
    test('three', () => undefined)`,
  )
  const tally_path = join(folder, 'tally.json')
  const words = [
    ...['--test', '--test-reporter=spec', '--test-reporter-destination=stdout'],
    `--test-reporter=${join(root, 'dist/scripts/test/tally_reporter.js')}`,
    `--test-reporter-destination=${tally_path}`,
  ]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, [...words, file], {
    encoding: 'utf8',
    env: { ...env, PATH: folder, CI: ci },
  })
  return { code: status, text: stdout, tally: JSON.parse(readFileSync(tally_path, 'utf8')) }
}

test('the last lines of a run list every reason for skipped tests', () => {
  const { code, tally } = runWithoutRedis('')
  assert.equal(code, 0)
  assert.deepEqual(closingLines(sumOf(tally, noTests), [{ reason: 'too long', files: ['a'] }]), [
    'Not run:',
    `  2 tests skipped: ${reasonWithout('redis-server')}`,
    '  1 file not run: too long',
    '1 passed, 0 failed, 2 skipped',
  ])
  assert.deepEqual(closingLines(noTests, [{ reason: 'none', files: [] }]), [
    '0 passed, 0 failed, 0 skipped',
  ])
})

test('with CI=true a missing tool fails the tests that need it', () => {
  const { code, text, tally } = runWithoutRedis('true')
  assert.equal(code, 1)
  assert.equal(tally.fail, 2)
  assert.equal(tally.skipped, 0)
  assert.match(text, /redis-server is not installed \(apt-get install redis-server\)/)
})

test('.ci/run installs every Debian package that tests use', () => {
  const tools = readFileSync(join(root, 'test/support/tools.ts'), 'utf8')
  const packages = [...tools.matchAll(/apt-get install ([\w-]+)/g)].map(([, name]) => name)
  const script = readFileSync(join(root, '.ci/run'), 'utf8')
  assert(packages.length > 10)
  for (const name of packages) assert.match(script, new RegExp(`echo ${name}$`, 'm'))
})
