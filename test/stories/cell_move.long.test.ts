// Runs alone, because it measures how long calls wait, on several database servers.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cellOfId } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import { type AcknowledgedLoad, startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { assertShortPauses } from '#test/support/cell_moves.ts'
import { florin } from '#test/support/florin_process.ts'
import {
  queryOn,
  startLogicalPostgres,
  startPlainPostgres,
} from '#test/support/logical_postgres.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { assertOnTime } from '#test/support/on_time.ts'
import { startTestService, type TestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
/** A network waits this long for a decision. */
const RESPONSE_MS_MAX = 2_000

const home = await startPlainPostgres()
const old = await startLogicalPostgres()
const next = await startPlainPostgres()

const data_dir = await mkdtemp(join(tmpdir(), 'florin_moving_'))
const FLORIN_CELLS = JSON.stringify([{ number: 1, url: old.url }])
const options = { database_url: home.url, data_dir, env: { FLORIN_CELLS } }
const first = await startTestService(options)
const second = await startTestService(options)
const nodes = [first, second]
after(() => rm(data_dir, { recursive: true, force: true }))
const env = { FLORIN_DATABASE_URL: home.url, FLORIN_DATA_DIR: data_dir, FLORIN_CELLS }

const cellOf = ({ runtime }: TestService, number: number): Database => {
  const db = runtime.cells?.at(number)?.db
  assert.ok(db !== undefined, `the node serves cell ${number}`)
  return db
}
const serverOf = async (db: Database) => {
  const [row] = await db.rows<{ port: number }>(`select current_setting('port')::integer as port`)
  return row?.port
}
const portOf = (url: string) => Number(new URL(url).port)

const targets = () =>
  nodes.map(({ url, sandbox_host }) => ({ url, card_host_port: sandbox_host.card_host_port }))
const failing = 'database' as const
const loads = [
  await startAcknowledgedLoad(first, seed, { targets, failing }),
  await startAcknowledgedLoad(first, seed + 1, { targets, failing }),
]
const loadOf = (cell: number): AcknowledgedLoad => {
  const found = loads.find(({ account_id }) => cellOfId(account_id) === cell)
  assert.ok(found !== undefined, `cell ${cell} has an account`)
  return found
}

test('a cell moves to another server under load, and its card messages only wait', async (t) => {
  const [moving, other] = [loadOf(1), loadOf(0)]
  await moving.nextSuccess()
  const { output, code } = await florin(['cells', 'move', '1', '--to', next.url], env)
  t.diagnostic(output)
  assert.equal(code, 0, output)
  assert.match(output, /^Copied \d+ tables/m)
  assert.match(output, /^Switched: cell 1 is on .* rows in \d+ tables are equal on both servers/m)
  assertShortPauses(output)
  await moving.nextSuccess()
  t.diagnostic(`${moving.unavailable()} refusals, slowest response ${moving.slowestMs()} ms`)
  assertOnTime(moving.refusedMessages() === 0, 'a card message got the response 91')
  assert.equal(other.unavailable(), 0, 'the other cell was not concerned')
  for (const load of loads) {
    assertOnTime(load.slowestMs() < RESPONSE_MS_MAX, `${load.slowestMs()} ms`)
  }
})

test('every node uses the new server without a restart', async () => {
  for (const node of nodes) assert.equal(await serverOf(cellOf(node, 1)), portOf(next.url))
  const stillThere = await old.query(
    `select application_name from pg_stat_activity
      where datname = current_database() and application_name like 'florin/%'`,
  )
  assert.deepEqual(stillThere, [])
})

test('the old copy refuses writes, also from a connection that insists', async () => {
  const write = `update task_runs set node = 'late'`
  await assert.rejects(old.query(write), /cannot execute UPDATE in a read-only transaction/)
  const insisting = `${old.url}?options=-c%20default_transaction_read_only%3Doff`
  await assert.rejects(queryOn(insisting, write), /this database was moved to another server/)
})

test('a node and commands with the old address: one follows the move, the others say so', async () => {
  const third = await startTestService(options)
  assert.equal(await serverOf(cellOf(third, 1)), portOf(next.url))
  await third.stop()
  const { output, code } = await florin(['audit', 'books'], env)
  assert.notEqual(code, 0)
  assert.match(output, /Cell 1 was moved to another server. Name its new address in FLORIN_CELLS/)
  const checked = await florin(['doctor'], env)
  assert.match(checked.output, /cell 1: database +moved to another server/)
})

test('a confirmed move leaves no publication, slot or subscription behind', async () => {
  const confirmed = await florin(['cells', 'move', '1', '--confirm'], env)
  assert.equal(confirmed.code, 0, confirmed.output)
  for (const { url } of [old, next]) {
    const left = await queryOn(
      url,
      `select pubname as name from pg_publication union all select subname from pg_subscription
        union all select slot_name from pg_replication_slots`,
    )
    assert.deepEqual(left, [])
  }
  const again = await florin(['cells', 'move', '1', '--cancel'], env)
  assert.match(again.output, /Cell 1 has been switched, and its new rows are only on the new/)
})

test('nothing acknowledged was lost or doubled, and the books are sound on the new server', async (t) => {
  for (const load of loads) await load.stop()
  for (const load of loads) {
    const db = cellOf(first, cellOfId(load.account_id))
    t.diagnostic(await load.assertKept(db))
    await assertBooksSound(db)
  }
  const FLORIN_CELLS = JSON.stringify([{ number: 1, url: next.url }])
  const { output, code } = await florin(['audit', 'books'], { ...env, FLORIN_CELLS })
  assert.equal(code, 0, output)
})
