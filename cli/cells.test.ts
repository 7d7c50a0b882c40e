import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
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

test('a credential root is not retired while credentials of another cell depend on it', async () => {
  const rotated = await florin(['keys', 'rotate', '--activate-after', '0'], env)
  assert.equal(rotated.code, 0, rotated.output)
  await service.cells.home.db.run('delete from api_keys')
  await service.cells.home.db.run('delete from sessions')
  const refused = await florin(['keys', 'retire'], env)
  assert.equal(refused.code, 1, refused.output)
  assert.match(refused.output, /api_keys: 1/)
})
