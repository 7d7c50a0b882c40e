import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { claimDatabase } from '#domain/directory/cell_store.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { migrate, pendingMigrations } from '#platform/postgres/migrate.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { withSchema } from '#platform/postgres/schema.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { PostgresPair } from '#test/support/postgres_pair.ts'
import { startTestService } from '#test/support/start.ts'
import { findTool, skipWithout } from '#test/support/tools.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const run = promisify(execFile)
// The server must be of the tools' version: pg_dump refuses a newer one.
const skip = skipWithout('postgres')
const tools = dirname(findTool('postgres') ?? '')

const folder = await mkdtemp(join(tmpdir(), 'florin_backup_'))

async function startUnderLoad() {
  const pair = await PostgresPair.start(folder, { binaries: dirname(tools) })
  after(() => pair.stop())
  const node = await startTestService({ database_url: pair.url })
  return { pair, node, load: await startAcknowledgedLoad(node, seed) }
}

type UnderLoad = Awaited<ReturnType<typeof startUnderLoad>>
const { pair, node, load } = skip === false ? await startUnderLoad() : ({} as UnderLoad)
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

/** Everything that decides a balance, as one hash. */
async function ledgerHash(db: Database): Promise<string> {
  const [row] = await db.rows<{ hash: string }>(
    `select md5((select string_agg(m::text, '|' order by m.id) from movements m) ||
                (select string_agg(p::text, '|' order by p::text) from purses p)) as hash`,
  )
  return row?.hash ?? ''
}

async function loadsIn(db: Database): Promise<number> {
  const [row] = await db.rows<{ count: bigint }>(
    `select count(*) from movements where movement = 'card_loaded'`,
  )
  return Number(row?.count)
}

/** A restored database is sound and has everything that was acknowledged before its backup. */
async function assertRestored(url: string, acknowledged: number): Promise<string> {
  const db = openDatabase(url, { pool_size: 1 })
  try {
    await assertBooksSound(db)
    await assertEventsAreWhole(db)
    const restored = await loadsIn(db)
    assert(restored >= acknowledged, `${restored} of ${acknowledged} loads`)
    return await ledgerHash(db)
  } finally {
    await db.close()
  }
}

async function dumpAndRestore(name: string, ...options: string[]): Promise<string> {
  const file = join(folder, `${name}.dump`)
  await run(join(tools, 'pg_dump'), ['-Fc', ...options, '-d', pair.url, '-f', file])
  await pair.query(`create database ${name}`)
  const url = pair.url.replace(/\/postgres$/, `/${name}`)
  await run(join(tools, 'pg_restore'), ['-d', url, '--exit-on-error', file])
  return url
}

test(`a dump taken under load restores to sound books with all earlier loads, seed ${seed}`, {
  skip,
}, async (t) => {
  await load.nextSuccess()
  const acknowledged = await loadsIn(node.owner_db)
  const began = performance.now()
  const url = await dumpAndRestore('restored_under_load')
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  await assertRestored(url, acknowledged)
  t.diagnostic(`${acknowledged} loads dumped and restored in ${seconds} s`)
})

test('a base backup taken under load starts elsewhere with sound books and all earlier loads', {
  skip,
}, async (t) => {
  await load.nextSuccess()
  const acknowledged = await loadsIn(node.owner_db)
  const dir = join(folder, 'base_backup')
  await run(join(tools, 'pg_basebackup'), ['-d', pair.url, '-D', dir, '-X', 'stream', '-c', 'fast'])
  const began = performance.now()
  const { port } = await pair.startRestored(dir)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  await assertRestored(pair.urlOf(port), acknowledged)
  t.diagnostic(`${acknowledged} loads, recovered in ${seconds} s`)
})

test('a dump of the quiet database has the same ledger, hash for hash', { skip }, async () => {
  await load.stop()
  const hash = await ledgerHash(node.owner_db)
  const url = await dumpAndRestore('restored_quiet')
  assert.equal(await assertRestored(url, await loadsIn(node.owner_db)), hash)
  await load.assertKept(node.owner_db)
})

test('a dump of one schema restores the cell in it, and no other', { skip }, async () => {
  const cell = openDatabase(withSchema(pair.url, 'cell_1'), { pool_size: 1 })
  await migrate(cell)
  await claimDatabase(cell, 1)
  await cell.close()
  const url = await dumpAndRestore('restored_schema', '-n', 'cell_1')
  const whole = openDatabase(url, { pool_size: 1 })
  assert.deepEqual(await whole.rows(`select to_regclass('accounts') as accounts`), [
    { accounts: null },
  ])
  await whole.close()
  const role = { name: SERVICE_ROLE, can_copy: true }
  const restored = openDatabase(withSchema(url, 'cell_1'), { pool_size: 1, role })
  assert.deepEqual(await pendingMigrations(restored), [])
  assert.equal(await claimDatabase(restored, 2), 1)
  await assertBooksSound(restored)
  const later = `select add_partitions('movements', now() + interval '3 months') as added`
  const [made] = await restored.rows<{ added: number }>(later)
  assert.ok(Number(made?.added) > 1)
  await restored.close()
})
