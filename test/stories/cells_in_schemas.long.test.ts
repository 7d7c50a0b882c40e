import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CREDENTIALS_CHANNEL } from '#domain/credentials/credential_store.ts'
import { cellOfId } from '#kernel/id.ts'
import { createArchive } from '#main/archive/create_archive.ts'
import { KEY_OF_NUMBER } from '#platform/postgres/advisory_key.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { openSession } from '#platform/postgres/session.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { issueCard } from '#test/support/cards.ts'
import { openHolderInCell, startCellsInSchemas } from '#test/support/cells.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { followActivity } from '#test/support/stream.ts'

const service = await startCellsInSchemas([1, 2])
const { url, cells, database_url, data_dir } = service
const holders = [
  await openHolderInCell(service, 200),
  await openHolderInCell(service, 200),
  await openHolderInCell(service, 200),
]
const env = {
  FLORIN_DATABASE_URL: database_url,
  FLORIN_DATA_DIR: data_dir,
  FLORIN_CELLS: JSON.stringify(
    [1, 2].map((number) => ({ number, url: database_url, schema: `cell_${number}` })),
  ),
}

test('cells in schemas of one database have accounts, cards and books of their own', async () => {
  const names = new Set<string>()
  for (const { account_id, key, runtime } of holders) {
    const card = await issueCard(url, key, { load_usd: 50 })
    assert.equal((await authorize(url, { key, card }, { amount: 12 })).status, 'pending')
    const [tables] = await runtime.db.rows<{ name: string; schema: string }>(
      'select current_database() as name, current_schema() as schema',
    )
    names.add(`${tables?.name} ${tables?.schema}`)
    for (const each of cells.all) {
      const found = await each.db.rows('select from cards where account_id = $1', [account_id])
      assert.equal(found.length, each === runtime ? 1 : 0)
    }
  }
  assert.deepEqual(holders.map(({ account_id }) => cellOfId(account_id)).sort(), [0, 1, 2])
  const database = new URL(database_url).pathname.slice(1)
  const schemas = ['public', 'cell_1', 'cell_2']
  assert.deepEqual([...names].sort(), schemas.map((name) => `${database} ${name}`).sort())
  for (const { db } of cells.all) await assertBooksSound(db)
})

test('a stream shows the events of its own cell, and a node is told only of those', async () => {
  const told: string[][] = []
  for (const { db } of cells.all) {
    const payloads: string[] = []
    told.push(payloads)
    after(await db.listen(CREDENTIALS_CHANNEL, (payload) => payloads.push(payload)))
  }
  const streams = await Promise.all(holders.map(({ bearer }) => followActivity(url, bearer)))
  for (const { bearer, key } of holders) {
    await issueCard(url, key)
    const made = await send(url, 'POST', '/v1/api_keys', { bearer, body: { name: 'till' } })
    const revoked = await send(url, 'DELETE', `/v1/api_keys/${made.body['id']}`, { bearer })
    assert.equal(revoked.status, 204, revoked.text)
  }
  for (const stream of streams) {
    const events = await stream.waitForEvents(1, 10_000)
    assert.ok(events.length > 0, stream.text())
    stream.close()
  }
  const ids = cells.all.map((each) => holders.find(({ runtime }) => runtime === each)?.account_id)
  const isTold = async () => told.every((payloads) => payloads.length > 0)
  assert.ok(await eventually(isTold, { within_ms: 10_000 }))
  assert.deepEqual(
    told.map((payloads) => [...new Set(payloads)]),
    ids.map((id) => [id]),
  )
})

test('every cell has its own leases, and adds partitions to its own tables', async () => {
  const [first, second, third] = cells.all.map(({ db }) => db)
  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  const ran = await withLease(first, 'a_task', async () => {
    assert.equal(await withLease(second, 'a_task', async () => undefined), true)
    assert.equal(await withLease(third, 'a_task', async () => undefined), true)
    assert.equal(await withLease(first, 'a_task', async () => undefined), false)
  })
  assert.equal(ran, true)
  await service.tasks.run(['prove_books'])
  for (const { db } of cells.all) {
    const later = `select add_partitions('events', now() + interval '3 months') as added`
    const [made] = await db.rows<{ added: number }>(later)
    assert.ok(Number(made?.added) > 1)
    const found = await db.rows<{ is_own: boolean }>(
      `select c.relnamespace = current_schema()::regnamespace as is_own
         from partitions_of('events') p join pg_class c on c.oid = p.partition`,
    )
    assert.ok(found.length > 3)
    assert.ok(found.every(({ is_own }) => is_own))
    const [proof] = await db.rows(`select from task_runs where task = 'prove_books'`)
    assert.ok(proof !== undefined)
  }
})

/** The locks of `florin migrate` and `florin archive create`. */
const COMMAND_LOCKS = [7_310_265, 7_310_267]

test('one cell can be archived and migrated while another one is', async () => {
  const busy = await openSession(service.urls.get(1) ?? '')
  for (const lock of COMMAND_LOCKS) {
    await busy.rows(`select pg_advisory_lock(${KEY_OF_NUMBER})`, [lock])
  }
  const archive = async (cell: number) => {
    const session = await openSession(service.urls.get(cell) ?? '')
    const { keys, clock } = cells.home
    const input = { session, keys, cell, to: data_dir, before: new Date(0), now: clock.now() }
    return createArchive({ ...input, report: () => undefined }).finally(session.close)
  }
  await assert.rejects(archive(1), /Another command is archiving or moving this database/)
  assert.equal(await archive(2), null)
  const db = openDatabase(service.urls.get(2) ?? '', { pool_size: 1 })
  assert.deepEqual(await migrate(db), [])
  await db.close()
  await busy.close()
})

test('a second cell in the same schema, and a database of another cell or none, are refused', async () => {
  const listed = (number: number, schema: string) => ({ number, url: database_url, schema })
  const start = (cells: object[]) =>
    startTestService({
      database_url,
      data_dir,
      env: { FLORIN_CELLS: JSON.stringify(cells) },
    })
  await assert.rejects(start([listed(1, 'cell_1'), listed(2, 'cell_1')]), (cause) => {
    assert.ok(cause instanceof ConfigError)
    assert.match(cause.message, /gives the cells 1 and 2 the same database and schema\.$/)
    return true
  })
  await assert.rejects(
    start([listed(1, 'cell_2')]),
    /The database configured for cell 1 belongs to cell 2\. Correct FLORIN_CELLS\./,
  )
  await assert.rejects(
    start([listed(1, 'cell_9')]),
    /Cell 1 has 1 accounts, but the database configured for it is new\. Correct FLORIN_CELLS\./,
  )
})

test('the commands work on every schema, and the cell in public is not moved before them', async () => {
  const books = await florin(['audit', 'books'], env)
  assert.equal(books.code, 0, books.output)
  assert.match(books.output, /Cell 0\n.*sound.*Cell 1\n.*sound.*Cell 2\n.*sound/s)
  const { output } = await florin(['doctor'], env)
  assert.match(output, /^ok +cell 2: migrations /m)
  const list = JSON.parse((await florin(['cells', 'list', '--json'], env)).output)
  assert.deepEqual(
    list.map(({ accounts }: { accounts: number }) => accounts),
    [1, 1, 1],
  )
  const to = 'postgres://postgres@127.0.0.1:1/florin'
  const home = await florin(['cells', 'move', '0', '--to', to], env)
  assert.notEqual(home.code, 0)
  assert.match(home.output, /has another cell in its schema cell_1, which a move would stop too/)
})
