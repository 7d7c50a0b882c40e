import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settings } from '#settings/settings.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { runCheck } from './check.ts'
import { databaseChecks, type OpenBooks } from './database_checks.ts'

const { db } = await openMoneyRoom()
const opened: OpenBooks = { db, close: async () => undefined }

async function find(
  name: string,
  mode: Settings['mode'] = 'sandbox',
  open: () => Promise<OpenBooks | null> = async () => opened,
) {
  const check = databaseChecks(open, mode).find((each) => each.name === name)
  assert(check !== undefined)
  const { state, found, cure } = await runCheck(check)
  return { state, found, cure }
}

test('a migrated database of this machine passes, and shows its version', async () => {
  assert.match((await find('database')).found, /^PostgreSQL \d+/)
  assert.deepEqual(await find('migrations'), { state: 'ok', found: 'all applied', cure: null })
  assert.match((await find('clock')).found, /^\d+ ms from the database's$/)
})

test('migrations that are not applied are counted, and the first one is named', async () => {
  const [last] = await db.rows<{ name: string }>(
    'delete from migrations where name = (select max(name) from migrations) returning name',
  )
  const { state, found, cure } = await find('migrations')
  assert.deepEqual([state, found], ['wrong', `1 not applied, starting with ${last?.name}`])
  assert.match(cure ?? '', /florin migrate/)
})

test('a login that owns the tables is a note in live mode, and expected in the sandbox', async () => {
  assert.deepEqual((await find('database login')).state, 'ok')
  const live = await find('database login', 'live')
  assert.equal(live.state, 'note')
  assert.match(live.found, /could change the audit log/)
})

test('no standby is a note in live mode', async () => {
  assert.deepEqual([(await find('standbys')).found, (await find('standbys')).state], ['none', 'ok'])
  assert.equal((await find('standbys', 'live')).state, 'note')
})

test('before the first start nothing is wrong, and an unreachable database fails every check', async () => {
  for (const name of ['database', 'migrations', 'database login', 'standbys', 'clock']) {
    assert.equal((await find(name, 'live', async () => null)).state, 'note')
    const unreachable = await find(name, 'live', async () => {
      throw new Error('connection refused')
    })
    assert.deepEqual([unreachable.state, unreachable.found], ['wrong', 'connection refused'])
    assert.notEqual(unreachable.cure, null)
  }
})
