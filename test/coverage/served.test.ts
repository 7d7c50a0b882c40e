import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type OperationName, operations } from '#contract/operations.ts'
import { openApiDocument } from '#doors/site/openapi.ts'
import { root } from '#platform/runtime/root.ts'
import { shapes } from '#test/support/contract.ts'

const names = Object.keys(operations) as OperationName[]

test('every operation has its file and its tests, named after it', () => {
  const rooms = readdirSync(join(root, 'src/domain'))
  for (const name of names) {
    const room = rooms.find((each) => existsSync(join(root, 'src/domain', each, `${name}.ts`)))
    assert.ok(room !== undefined, `${name} has no file of its name in a room of src/domain`)
    const test_file = join(root, 'src/domain', room, `${name}.test.ts`)
    assert.ok(existsSync(test_file), `${name} has no ${name}.test.ts`)
  }
})

type Entry = { operationId?: string; summary?: string; responses?: Record<string, unknown> }

test('every operation has an entry in the OpenAPI document, under its method and path', () => {
  const document = openApiDocument({ public_url: 'http://127.0.0.1:8080' }) as unknown as {
    paths: Record<string, Record<string, Entry>>
  }
  for (const shape of shapes) {
    const at_path = document.paths[shape.path] ?? document.paths[`/v1${shape.path}`]
    const entry = at_path?.[shape.method.toLowerCase()]
    assert.ok(entry !== undefined, `${shape.method} ${shape.path} is not described`)
    if (shape.variant_of === undefined) {
      assert.equal(entry.operationId, shape.name)
      assert.ok(entry.responses?.[String(shape.status)], `${shape.name} has no ${shape.status}`)
      assert.ok(entry.summary)
    }
  }
})

test('the committed OpenAPI document describes the same operations', () => {
  const committed = readFileSync(join(root, 'openapi.json'), 'utf8')
  for (const { name } of shapes) assert.ok(committed.includes(`"${name}"`), name)
})
