import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import type { RunResult } from '#scripts/test/runner.ts'
import { closingLines, noTests, sumOf } from '#scripts/test/summary.ts'
import { runFiles } from '#test/support/test_runs.ts'
import { reasonWithout } from '#test/support/tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'florin-left-out-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs a test file that needs Redis on a machine whose path is empty. */
function runWithoutRedis(ci: string): Promise<RunResult> {
  const file = join(folder, 'redis.test.mjs')
  writeFileSync(
    file,
    `import { test } from 'node:test'
    import { requireTool } from '${join(root, 'dist/test/support/tools.js')}'
    test('one', (t) => { requireTool('redis-server', t) })
    test('two', (t) => { requireTool('redis-server', t) })
    test('three', () => undefined)`,
  )
  return runFiles([file], { CI: ci, PATH: folder })
}

test('the last lines of a run list every reason for skipped tests', async () => {
  const { code, tally } = await runWithoutRedis('')
  assert.equal(code, 0)
  assert.deepEqual(closingLines(sumOf(tally, noTests()), [{ reason: 'too long', files: ['a'] }]), [
    'Not run:',
    `  2 tests skipped: ${reasonWithout('redis-server')}`,
    '  1 file not run: too long',
    '1 passed, 0 failed, 2 skipped',
  ])
  assert.deepEqual(closingLines(noTests(), [{ reason: 'none', files: [] }]), [
    '0 passed, 0 failed, 0 skipped',
  ])
})

test('with CI=true a missing tool fails the tests that need it', async () => {
  const { code, failures, tally } = await runWithoutRedis('true')
  assert.deepEqual([code, tally.fail, tally.skip], [1, 2, 0])
  assert.match(failures.join(), /redis-server is not installed \(apt-get install redis-server\)/)
})

test('.ci/run installs every Debian package that tests use', () => {
  const tools = readFileSync(join(root, 'test/support/tools.ts'), 'utf8')
  const packages = [...tools.matchAll(/apt-get install ([\w-]+)/g)].map(([, name]) => name)
  const script = readFileSync(join(root, '.ci/run'), 'utf8')
  assert(packages.length > 10)
  for (const name of packages) assert.match(script, new RegExp(`echo ${name}$`, 'm'))
})
