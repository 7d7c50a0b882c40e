import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { root } from '#platform/runtime/root.ts'
import { operationNames } from '#scripts/tidy/names.ts'
import { checkRules } from '#scripts/tidy/rules.ts'
import { formatViolation } from '#scripts/tidy/source.ts'
import { readTree } from '#scripts/tidy/tree.ts'

const FLOORS = join(root, 'dependency_cruiser.config.js')

type Ended = { code: number | null; output: string }

const runTool = (name: string, ...words: readonly string[]): Promise<Ended> =>
  runToolIn(root, name, ...words)

function runToolIn(cwd: string, name: string, ...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, 'node_modules', '.bin', name), words, { cwd })
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
  const floors = house.test('import directions and cycles', async () => {
    const { code, output } = await runTool('depcruise', '-c', FLOORS, '.')
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
  await Promise.all([types, panel, panel_tests, unused, floors, form, tidiness])
})

/** The rules that Biome reports for a text at this path. */
function lintRules(path: string, lines: readonly string[]): string[] {
  const words = ['lint', '--max-diagnostics=none', `--stdin-file-path=${path}`]
  const biome = join(root, 'node_modules', '.bin', 'biome')
  const { stderr } = spawnSync(biome, words, {
    cwd: root,
    input: lines.join('\n'),
    encoding: 'utf8',
  })
  return [...stderr.matchAll(/lint\/\w+\/(\w+)/g)].map(([, rule = '']) => rule)
}

test('the linter knows the house rules that it can check', () => {
  const time_and_chance = [
    `import { randomBytes } from 'node:crypto'`,
    'export const now = [randomBytes, Date.now(), Math.random(), crypto.randomUUID()]',
    'setTimeout(f, 1)',
    `export const url = process.env['URL']`,
  ]
  const long = ['export function long() {', ...Array<string>(61).fill('  f()'), '}']
  const everything = [...time_and_chance, `import { x } from '../x.ts'`, 'export const a: any = x']
  const found = lintRules('src/kernel/a.ts', [...everything, ...long, 'console.log(1)'])
  for (const rule of [
    ...['noRestrictedImports', 'noJsRestrictedProperties', 'noRestrictedGlobals', 'noProcessEnv'],
    ...['noExplicitAny', 'noExcessiveLinesPerFunction', 'noConsole'],
  ]) {
    assert.ok(found.includes(rule), `${rule} is not in ${found.join(', ')}`)
  }
  assert.deepEqual(lintRules('src/platform/a.ts', time_and_chance), [])
  const lines = (count: number) => Array<string>(count).fill('f()')
  assert.deepEqual(lintRules('cli/a.ts', ['export default 1']), ['noDefaultExport'])
  assert.deepEqual(lintRules('cli/a.ts', lines(401)), ['noExcessiveLinesPerFile'])
  assert.deepEqual(lintRules('cli/a.test.ts', lines(600)), [])
  assert.deepEqual(lintRules('src/contract/a.ts', lines(900)), [])
  assert.deepEqual(lintRules('cli/a.test.ts', [`test.skip('a', f)`, `test.only('a', f)`]), [
    'noSkippedTests',
    'noFocusedTests',
  ])
})

test('a forbidden import and a cycle are found, type imports included', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'florin-floors-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const plant = (path: string, text = ''): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const importing = (specifier: string): string => `import type { X } from '${specifier}'\n`
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  plant('src/kernel/a.ts', importing('#contract/b.ts') + importing('node:fs'))
  plant('src/contract/b.ts', importing('./c.ts'))
  plant('src/contract/c.ts', importing('./b.ts'))
  plant('src/contract/c.test.ts', importing('#doors/rest/d.ts'))
  plant('src/doors/rest/d.ts', importing('#doors/mcp/e.ts') + importing('#domain/loans/f.ts'))
  plant('src/doors/mcp/e.ts', importing('#sandbox/h.ts'))
  plant('src/domain/cards/g.ts', `export const d = await import('#domain/disputes/i.ts')\n`)
  plant('src/domain/disputes/i.ts', importing('#kernel/a.ts'))
  plant('src/domain/loans/f.ts', importing('#kernel/a.ts') + importing('#kernel/missing.ts'))
  plant('sandbox/h.ts', importing('#domain/disputes/i.ts'))
  const { code, output } = await runToolIn(folder, 'depcruise', '-c', FLOORS, '.')
  assert.notEqual(code, 0)
  for (const found of [
    'kernel imports only the floors before it: src/kernel/a.ts → src/contract/b.ts',
    'code that also runs in browsers does not import Node: src/kernel/a.ts → fs',
    'no cycles, type imports included: src/contract/b.ts →',
    'doors do not import each other: src/doors/rest/d.ts → src/doors/mcp/e.ts',
    'doors imports only the floors before it: src/doors/rest/d.ts → src/domain/loans/f.ts',
    'doors imports only the floors before it: src/doors/mcp/e.ts → sandbox/h.ts',
    'domain/cards imports only the floors before it: src/domain/cards/g.ts →',
    'every file in src is on a floor: src/domain/loans/f.ts →',
    'every import exists: src/domain/loans/f.ts → #kernel/missing.ts',
    'client: sandbox/h.ts → src/domain/disputes/i.ts',
  ]) {
    assert.ok(output.includes(found), `${found} is not in\n${output}`)
  }
  assert.ok(!output.includes('.test.ts'), output)
})

test('tidy finds the same operations in the contract as the compiler', () => {
  assert.deepEqual([...operationNames(readTree())].sort(), Object.keys(operations).sort())
})
