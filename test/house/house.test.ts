import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
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

/** Writes files into a temporary folder that tools can check like the repository. */
function plantFiles(t: TestContext, files: Readonly<Record<string, readonly string[]>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'florin-house-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'biome.json'])
    copyFileSync(join(root, name), join(folder, name))
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${lines.join('\n')}\n`)
  }
  return folder
}

const repeated = (count: number, line: string): string[] => Array<string>(count).fill(line)

test('the linter checks the house rules that it can', async (t) => {
  const time_and_chance = [
    `import { randomBytes } from 'node:crypto'`,
    'export const now = [randomBytes, Date.now(), Math.random(), crypto.randomUUID()]',
    'setTimeout(f, 1)',
    `export const url = process.env['URL']`,
  ]
  const folder = plantFiles(t, {
    'src/kernel/time.ts': time_and_chance,
    'src/platform/time.ts': time_and_chance,
    'src/kernel/parent.ts': [`export { x } from '../x.ts'`, 'export const a: any = 1'],
    'src/kernel/print.ts': ['console.log(1)'],
    'cli/default.ts': ['export default 1'],
    'cli/long.ts': ['export function long() {', ...repeated(61, '  f()'), '}'],
    'cli/longer.ts': repeated(401, 'f()'),
    'cli/long.test.ts': repeated(600, 'f()'),
    'src/contract/table.ts': repeated(900, 'f()'),
  })
  const words = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '.']
  const { code, output } = await runToolIn(folder, 'biome', ...words)
  const found = [...output.matchAll(/^(\S+?):\d+:\d+ lint\/\w+\/(\w+)/gm)]
  assert.notEqual(code, 0)
  assert.deepEqual(found.map(([, path, rule]) => `${path} ${rule}`).sort(), [
    'cli/default.ts noDefaultExport',
    'cli/long.ts noExcessiveLinesPerFunction',
    'cli/longer.ts noExcessiveLinesPerFile',
    'src/kernel/parent.ts noExplicitAny',
    'src/kernel/parent.ts noRestrictedImports',
    'src/kernel/print.ts noConsole',
    'src/kernel/time.ts noJsRestrictedProperties',
    'src/kernel/time.ts noJsRestrictedProperties',
    'src/kernel/time.ts noJsRestrictedProperties',
    'src/kernel/time.ts noProcessEnv',
    'src/kernel/time.ts noRestrictedGlobals',
    'src/kernel/time.ts noRestrictedImports',
  ])
})

test('a forbidden import and a cycle are found, type imports included', async (t) => {
  const importing = (...specifiers: readonly string[]): string[] =>
    specifiers.map((specifier) => `import type { X } from '${specifier}'`)
  const folder = plantFiles(t, {
    'src/kernel/a.ts': importing('#contract/b.ts', 'node:fs'),
    'src/contract/b.ts': importing('./c.ts'),
    'src/contract/c.ts': importing('./b.ts'),
    'src/contract/c.test.ts': importing('#doors/rest/d.ts'),
    'src/doors/rest/d.ts': importing('#doors/mcp/e.ts', '#domain/loans/f.ts'),
    'src/doors/mcp/e.ts': importing('#sandbox/h.ts'),
    'src/domain/cards/g.ts': [`export const d = await import('#domain/disputes/i.ts')`],
    'src/domain/disputes/i.ts': importing('#kernel/a.ts'),
    'src/domain/loans/f.ts': importing('#kernel/a.ts', '#kernel/missing.ts'),
    'sandbox/h.ts': importing('#domain/disputes/i.ts'),
  })
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
