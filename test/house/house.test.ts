import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { root } from '#platform/runtime/root.ts'
import { operationNames } from '#scripts/tidy/names.ts'
import { checkRules } from '#scripts/tidy/rules.ts'
import { formatViolation } from '#scripts/tidy/source.ts'
import { readTree } from '#scripts/tidy/tree.ts'

type Ended = { code: number | null; output: string }

function runTool(name: string, ...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules', '.bin', name), words, { cwd: root })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      output += String(chunk)
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

// The tools only read the tree, so they run in parallel.
test('the repository passes all static checks', { concurrency: true }, async (house) => {
  const types = house.test('types', async () => {
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false')
    assert.equal(code, 0, `\n${output}`)
  })
  const panel = house.test('types of the panel', async () => {
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false', '-p', 'panel')
    assert.equal(code, 0, `\n${output}`)
  })
  const panel_tests = house.test('types of the panel tests', async () => {
    const config = ['-p', 'panel/tsconfig.test.json']
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false', ...config)
    assert.equal(code, 0, `\n${output}`)
  })
  const unused = house.test('no unused file, export or dependency', async () => {
    const { code, output } = await runTool('knip', '--no-progress')
    assert.equal(code, 0, `\n${output}`)
  })
  const form = house.test('formatter and linter', async () => {
    const { code, output } = await runTool('biome', 'check', '--max-diagnostics=50', '.')
    assert.equal(code, 0, `\n${output}`)
  })
  const tidiness = house.test('house rules (tidy)', () => {
    const violations = checkRules(readTree()).map(formatViolation)
    assert.equal(violations.length, 0, `\n${violations.join('\n')}`)
  })
  await Promise.all([types, panel, panel_tests, unused, form, tidiness])
})

test('tidy finds the same operations in the contract as the compiler', () => {
  assert.deepEqual([...operationNames(readTree())].sort(), Object.keys(operations).sort())
})
