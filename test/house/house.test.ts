import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { root } from '#platform/root.ts'
import { operationNames } from '#scripts/tidy/names.ts'
import { complaintsAbout } from '#scripts/tidy/rules.ts'
import { sentence } from '#scripts/tidy/source.ts'
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

// They look at the same tree and write nothing that another reads, so they run side by side.
test('the house is in order', { concurrency: true }, async (house) => {
  const types = house.test('the types hold', async () => {
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false')
    assert.equal(code, 0, `\n${output}`)
  })
  const panel = house.test('the types of the panel hold', async () => {
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false', '-p', 'panel')
    assert.equal(code, 0, `\n${output}`)
  })
  const unused = house.test('no file, export or dependency is unused', async () => {
    const { code, output } = await runTool('knip', '--no-progress')
    assert.equal(code, 0, `\n${output}`)
  })
  const form = house.test('formatter and linter have nothing to say', async () => {
    const { code, output } = await runTool('biome', 'check', '--max-diagnostics=50', '.')
    assert.equal(code, 0, `\n${output}`)
  })
  const tidiness = house.test('the tree is tidy', () => {
    const complaints = complaintsAbout(readTree()).map(sentence)
    assert.equal(complaints.length, 0, `\n${complaints.join('\n')}`)
  })
  await Promise.all([types, panel, unused, form, tidiness])
})

test('tidy reads the same operations off the contract as the compiler does', () => {
  assert.deepEqual([...operationNames(readTree())].sort(), Object.keys(operations).sort())
})
