import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { filesBelow } from '#scripts/test/files_below.ts'
import { ts } from '#test/packages/typescript.ts'
import { type Declaration, readModule, testsIn } from '#test/support/test_sources.ts'

type Row = { number: number; tests: { path: string; name: string }[]; is_open: boolean }

/** Rows begin with **n · title.** and list their tests as - `path`: name. */
function readRows(text: string): Row[] {
  const rows: Row[] = []
  for (const line of text.split('\n')) {
    const number = /^\*\*(\d+) · /.exec(line)?.[1]
    if (number !== undefined) rows.push({ number: Number(number), tests: [], is_open: false })
    const [, path, name] = /^- `([^`]+\.test\.ts)`: (.+)$/.exec(line) ?? []
    if (path !== undefined && name !== undefined) rows.at(-1)?.tests.push({ path, name })
    const row = rows.at(-1)
    if (row !== undefined && line.startsWith('- Open')) row.is_open = true
  }
  return rows
}

const rows = readRows(readFileSync(join(root, 'docs/proof.md'), 'utf8'))

test('docs/proof.md has rows 1 to 54, each with a test or marked as open', (t) => {
  const numbers = Array.from({ length: 54 }, (_, at) => at + 1)
  assert.deepEqual(
    rows.map(({ number }) => number),
    numbers,
  )
  const bare = rows.filter(({ tests, is_open }) => tests.length === 0 && !is_open)
  assert.deepEqual(bare, [])
  const open = rows.filter(({ is_open }) => is_open).map(({ number }) => number)
  t.diagnostic(`${rows.length - open.length} of 54 rows proven; open: ${open.join(', ') || 'none'}`)
})

test('every test that docs/proof.md names exists and is not skipped', () => {
  const missing: string[] = []
  for (const { path, name } of rows.flatMap(({ tests }) => tests)) {
    const found = existsSync(join(root, path)) ? testsIn(path) : []
    const named = found.find((each) => each.name === name)
    if (named === undefined) missing.push(`${path}: ${name}`)
    else assert(!named.is_skipped, `${path}: ${name} is skipped`)
  }
  assert.deepEqual(missing, [])
})

const FOLDERS = ['src', 'test', 'client', 'cli', 'sandbox', 'panel']
const paths = FOLDERS.flatMap(filesBelow)
const test_files = paths.filter((path) => path.endsWith('.test.ts'))

/** True if the node, or a helper that it names, calls an assertion or throws. */
function canFail({ file, node }: Declaration, seen = new Set<ts.Node>()): boolean {
  if (seen.has(node)) return false
  seen.add(node)
  const { names } = readModule(file.fileName)
  let found = false
  const visit = (each: ts.Node): void => {
    if (found) return
    if (ts.isIdentifier(each)) {
      const declared = names.get(each.text)
      found = /^assert/.test(each.text) || (declared !== undefined && canFail(declared, seen))
    }
    found ||= ts.isThrowStatement(each)
    if (!found) ts.forEachChild(each, visit)
  }
  visit(node)
  return found
}

const all = test_files.flatMap(testsIn)

test('every test can fail: it asserts, or calls a helper that does', () => {
  assert(all.length > 1_500, `${all.length} tests`)
  const idle = all.filter(({ file, node }) => !canFail({ file, node }))
  assert.deepEqual(
    idle.map(({ where, name }) => `${where} ${name}`),
    [],
  )
})

/** Lines of statements that wait for a condition and go on without it. */
function ignoredWaits(path: string): string[] {
  const lines: string[] = []
  const { file } = readModule(path)
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && /^await eventually\(/.test(node.getText(file))) {
      lines.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return lines
}

test('no test ignores the outcome of eventually', () => {
  assert.deepEqual(test_files.flatMap(ignoredWaits), [])
})
