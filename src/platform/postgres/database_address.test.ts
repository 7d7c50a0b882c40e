import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { DatabaseAddress, type DatabaseUrls } from './database_address.ts'
import { DatabaseUnavailable, openAccountPool, openDatabase } from './db.ts'
import { migrate } from './migrate.ts'
import { SERVICE_ROLE } from './roles.ts'
import { withSchema } from './schema.ts'

const [old, next] = [await cloneDatabase(), await cloneDatabase()]
const admin = openDatabase(old.url, { pool_size: 1 })
after(async () => {
  await admin.close()
  await old.drop()
  await next.drop()
})
const nameOf = (url: string) => new URL(url).pathname.slice(1)
const setReadOnly = (value: 'on' | 'off') =>
  admin.run(`alter database ${nameOf(old.url)} set default_transaction_read_only = ${value}`)
const urlsOf = (url: string): DatabaseUrls => ({ url, account_url: null })

/** An address whose move is decided by the test. */
function movingAddress() {
  let moved: (urls: DatabaseUrls | null) => void = () => undefined
  let asked = 0
  const address = new DatabaseAddress(urlsOf(old.url), () => {
    asked += 1
    return new Promise((resolve) => {
      moved = resolve
    })
  })
  return { address, end: (urls: DatabaseUrls | null) => moved(urls), asked: () => asked }
}

const CURRENT = 'select current_database() as name'
const nameIn = async (db: Pick<typeof admin, 'rows'>) =>
  (await db.rows<{ name: string }>(CURRENT))[0]?.name

test('all pools of an address wait while it is uncertain, then use the new server', async () => {
  const { address, end, asked } = movingAddress()
  const db = openDatabase(address, { pool_size: 1, move_wait_ms: 5_000 })
  const accounts = openAccountPool(address, { pool_size: 1, move_wait_ms: 5_000 })
  after(() => Promise.all([db.close(), accounts.close()]))
  assert.equal(await nameIn(db), nameOf(old.url))
  const found = address.find()
  const waiting = [nameIn(db), nameIn(accounts.of('acct_1'))]
  end(urlsOf(next.url))
  assert.equal(await found, true)
  assert.deepEqual(await Promise.all(waiting), [nameOf(next.url), nameOf(next.url)])
  assert.equal(asked(), 1)
})

test('a pool that may not wait is unavailable until the address is known', async () => {
  const { address, end } = movingAddress()
  const db = openDatabase(address, { pool_size: 1, move_wait_ms: 0 })
  after(db.close)
  const found = address.find()
  await assert.rejects(nameIn(db), DatabaseUnavailable)
  end(null)
  assert.equal(await found, false)
  assert.equal(await nameIn(db), nameOf(old.url))
})

test('a closed database is unavailable to all pools until the work is done', async () => {
  const address = new DatabaseAddress(urlsOf(old.url), async () => null)
  const db = openDatabase(address, { pool_size: 1, move_wait_ms: 0 })
  const waiting = openDatabase(address, { pool_size: 1, move_wait_ms: 5_000 })
  after(() => Promise.all([db.close(), waiting.close()]))
  assert.equal(await nameIn(db), nameOf(old.url))
  let open: () => void = () => undefined
  address.closeUntil(
    new Promise((resolve) => {
      open = resolve
    }),
  )
  await assert.rejects(nameIn(db), DatabaseUnavailable)
  const waited = nameIn(waiting)
  open()
  assert.equal(await waited, nameOf(old.url))
  assert.equal(await nameIn(db), nameOf(old.url))
})

test('a connection to a read-only database asks for the address before it is used', async () => {
  await setReadOnly('on')
  const address = new DatabaseAddress(urlsOf(old.url), async () => urlsOf(next.url))
  const db = openDatabase(address, { pool_size: 1 })
  after(db.close)
  assert.equal(await nameIn(db), nameOf(next.url))
  const staying = openDatabase(new DatabaseAddress(urlsOf(old.url), async () => null))
  after(staying.close)
  assert.equal(await nameIn(staying), nameOf(old.url), 'read-only for another reason')
  await setReadOnly('off')
})

test('a moved schema refuses writes and is asked by new connections; its database goes on', async () => {
  const [closed, home] = [withSchema(old.url, 'cell_1'), withSchema(next.url, 'cell_1')]
  const owner = openDatabase(closed, { pool_size: 1 })
  const other = openDatabase(home, { pool_size: 1 })
  after(() => Promise.all([owner.close(), other.close()]))
  await migrate(owner)
  await migrate(other)
  const address = new DatabaseAddress(urlsOf(closed), async () => urlsOf(home))
  const role = { name: SERVICE_ROLE, can_copy: true }
  const [open, fresh] = [openDatabase(address, { pool_size: 1, role }), openDatabase(address)]
  after(() => Promise.all([open.close(), fresh.close()]))
  assert.equal(await nameIn(open), nameOf(old.url))
  await owner.run('call close_moved_database()')
  const write = `update task_runs set node = 'late'`
  await assert.rejects(owner.run(write), DatabaseUnavailable, 'the owner is refused too')
  assert.equal(await nameIn(fresh), nameOf(next.url), 'a new connection is asked')
  assert.equal(await open.run(write), 0)
  assert.equal(await nameIn(open), nameOf(next.url))
  assert.equal(await admin.run(write), 0, 'the schema public is not concerned')
})

test('a write that the old copy refuses is repeated on the new server', async () => {
  const role = { name: SERVICE_ROLE, can_copy: true }
  const address = new DatabaseAddress(urlsOf(old.url), async () => urlsOf(next.url))
  const db = openDatabase(address, { pool_size: 1, role })
  after(db.close)
  assert.equal(await nameIn(db), nameOf(old.url))
  await admin.run('call close_moved_database()')
  const write = `update task_runs set node = 'late'`
  await assert.rejects(admin.run(write), DatabaseUnavailable, 'the owner is refused too')
  await assert.rejects(
    db.transaction((tx) => tx.run(write)),
    DatabaseUnavailable,
  )
  assert.equal(await db.run(write), 0)
  assert.equal(await nameIn(db), nameOf(next.url))
})
