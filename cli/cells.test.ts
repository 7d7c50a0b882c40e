import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createUndo } from '#domain/credentials/security_undo.ts'
import { cellOfAddressIndex } from '#kernel/cell.ts'
import type { Database } from '#platform/postgres/db.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { florin } from '#test/support/florin_process.ts'

const service = await startTestCells([1])
await openHolderInCell(service, 20)
await openHolderInCell(service, 30)
const listed = [{ number: 1, url: service.urls.get(1) }]
const env = {
  FLORIN_DATABASE_URL: service.database_url,
  FLORIN_DATA_DIR: service.data_dir,
  FLORIN_CELLS: JSON.stringify(listed),
}

test('cells are listed with their accounts, and can be closed and opened', async () => {
  const states = async () => JSON.parse((await florin(['cells', 'list', '--json'], env)).output)
  assert.deepEqual(await states(), [
    { number: 0, state: 'open', accounts: 1 },
    { number: 1, state: 'open', accounts: 1 },
  ])
  assert.equal((await florin(['cells', 'close', '1'], env)).code, 0)
  const added = await florin(['cells', 'add'], env)
  assert.match(added.output, /1 {2}closed/, 'an added cell that is known stays as it is')
  assert.equal((await florin(['cells', 'open', '1'], env)).code, 0)
  const unknown = await florin(['cells', 'close', '9'], env)
  assert.notEqual(unknown.code, 0)
  assert.match(unknown.output, /There is no cell 9/)
})

test('before cells are registered, the list says which command adds them', async () => {
  const database = await cloneDatabase()
  after(database.drop)
  const alone = { ...env, FLORIN_DATABASE_URL: database.url }
  const listed_none = await florin(['cells', 'list'], alone)
  assert.match(listed_none.output, /`florin cells add` adds those of FLORIN_CELLS/)
})

test('the audit proves the books of every cell and fails if one is not sound', async () => {
  const sound = await florin(['audit', 'books'], env)
  assert.equal(sound.code, 0, sound.output)
  assert.match(sound.output, /Cell 0\n.*books are sound.*Cell 1\n.*books are sound/s)
  const db = service.cells.at(1)?.db
  await db?.run(`update purses set balance_micros = balance_micros + 1 where kind = 'treasury'`)
  const broken = await florin(['audit', 'books'], env)
  assert.equal(broken.code, 1, broken.output)
  assert.match(broken.output, /Cell 1\n.*FAILED/s)
})

test('the doctor and the audit of logs look at every cell', async () => {
  const { output } = await florin(['doctor'], env)
  assert.match(output, /^ok +migrations /m)
  assert.match(output, /^ok +cell 1: migrations /m)
  const verified = await florin(['audit', 'verify'], env)
  assert.equal(verified.code, 0, verified.output)
  assert.match(verified.output, /^2 accounts, \d+ entries: unbroken$/m)
})

test('a restored cell is prepared alone, and a restored directory lists all emails again, reserved ones too', async () => {
  const unnamed = await florin(['after-restore', '--yes'], env)
  assert.notEqual(unnamed.code, 0)
  assert.match(unnamed.output, /Name the restored cell: --cell 0 or 1\./)
  const pausedIn = async (db: Database) =>
    (await db.rows('select from kill_switches where is_on')).length > 0
  const { home } = service.cells
  const other = service.cells.at(1)
  assert.ok(other !== undefined)
  const second = await florin(['after-restore', '--yes', '--cell', '1'], env)
  assert.equal(second.code, 0, second.output)
  const [, index = ''] = /begin at index (\d+)\./.exec(second.output) ?? []
  assert.equal(cellOfAddressIndex(Number(index)), 1)
  assert.deepEqual([await pausedIn(home.db), await pausedIn(other.db)], [false, true])

  const [account] = await other.db.rows<{ id: string; email: string }>(
    'select id, email from accounts',
  )
  assert.ok(account !== undefined)
  const undo = { account_id: account.id, email: 'old@example.com', kind: 'email_changed' } as const
  await createUndo(other.db, other, { ...undo, now: new Date() })
  await home.db.run('delete from directory_emails')
  const first = await florin(['after-restore', '--yes', '--cell', '0'], env)
  assert.match(first.output, /^2 emails of other cells were listed again\.$/m)
  for (const email of [account.email, undo.email]) {
    assert.equal(await service.cells.ofEmail(email), 1)
  }
})

test('a credential root is not retired while credentials of another cell depend on it', async () => {
  const rotated = await florin(['keys', 'rotate', '--activate-after', '0'], env)
  assert.equal(rotated.code, 0, rotated.output)
  await service.cells.home.db.run('delete from api_keys')
  await service.cells.home.db.run('delete from sessions')
  const refused = await florin(['keys', 'retire'], env)
  assert.equal(refused.code, 1, refused.output)
  assert.match(refused.output, /api_keys: 1/)
})
