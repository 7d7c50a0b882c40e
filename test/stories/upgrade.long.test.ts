import assert from 'node:assert/strict'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import manifest from '#package.json' with { type: 'json' }
import { openDatabase } from '#platform/postgres/db.ts'
import { migrateFrom } from '#platform/postgres/migrate.ts'
import { root } from '#platform/runtime/root.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'

const clone = await cloneDatabase()
const folder = await temporaryFolder()
const env = { FLORIN_DATABASE_URL: clone.url, FLORIN_DATA_DIR: join(folder.path, 'data') }
const db = openDatabase(clone.url, { pool_size: 1 })
after(async () => {
  await stopAllProcesses()
  await db.close()
  await clone.drop()
  await folder.remove()
})

test('an incompatible migration waits until the old node is stopped, and keeps it from starting again', async () => {
  const later = join(folder.path, 'migrations')
  await cp(join(root, 'migrations'), later, { recursive: true })
  await writeFile(
    join(later, '9001_later.sql'),
    '-- incompatible: older nodes read offset_ms\nalter table clock rename offset_ms to ms;\n',
  )
  const node = await startFlorin(env)
  const refusal = await migrateFrom(later, db).catch((cause: Error) => cause)
  assert(refusal instanceof Error)
  assert.match(refusal.message, new RegExp(`${manifest.version} on \\S+ \\(process ${node.pid}\\)`))
  assert.equal((await fetch(`${node.url}/healthz`)).status, 200)

  node.signal('SIGTERM')
  await node.ended
  const isApplied = async () => (await migrateFrom(later, db).catch(() => [])).length === 1
  assert(await eventually(isApplied, { within_ms: 10_000 }))
  const { code, output } = await florin(['start'], { ...env, FLORIN_PORT: '0' })
  assert.equal(code, 78, output)
  assert.match(output, /^A newer version of Florin changed the database with 9001_later\.sql/m)
  assert.ok(!output.includes('    at '), 'no stack is shown')
})
