import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { plantFiles, runTool, runToolIn } from '#test/support/static_checks.ts'

const FLOORS = join(root, 'dependency_cruiser.config.js')

const projects = ['tsconfig.json', 'panel/tsconfig.json', 'panel/tsconfig.test.json']
for (const project of projects) {
  test(`the types of ${project} are right`, async () => {
    const { code, output } = await runTool('tsc', '--noEmit', '--pretty', 'false', '-p', project)
    assert.equal(code, 0, `\n${output}`)
  })
}

test('there is no unused file, export or dependency', async () => {
  const { code, output } = await runTool('knip', '--no-progress')
  assert.equal(code, 0, `\n${output}`)
})

test('the formatter and the linter find nothing', async () => {
  const { code, output } = await runTool('biome', 'check', '--max-diagnostics=50', '.')
  assert.equal(code, 0, `\n${output}`)
})

test('imports keep their directions and have no cycles', async () => {
  const { code, output } = await runTool('depcruise', '-c', FLOORS, '.')
  assert.equal(code, 0, `\n${output}`)
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
