import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { pipeline_operations } from '#contract/operator/operations.ts'
import { operationNames } from '#scripts/tidy/names.ts'
import { checkRules } from '#scripts/tidy/rules.ts'
import { formatViolation } from '#scripts/tidy/source.ts'
import { readTree } from '#scripts/tidy/tree.ts'
import { plantFiles, runToolIn } from '#test/support/static_checks.ts'

test('the house rules are kept (tidy)', () => {
  const violations = checkRules(readTree()).map(formatViolation)
  assert.equal(violations.length, 0, `\n${violations.join('\n')}`)
})

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

test('tidy finds the same operations in the contract as the compiler', () => {
  assert.deepEqual([...operationNames(readTree())].sort(), Object.keys(pipeline_operations).sort())
})
