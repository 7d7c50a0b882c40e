// Runs alone, because it measures how long calls wait, on several database servers.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { cellOfId } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import { channelIn } from '#platform/postgres/notify.ts'
import { withSchema } from '#platform/postgres/schema.ts'
import { type AcknowledgedLoad, startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { assertShortPauses } from '#test/support/cell_moves.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin, spawnFlorin } from '#test/support/florin_process.ts'
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
const WITHIN = { within_ms: 30_000 }

// Cells 1 and 3 leave the database of cell 0, for the one of cell 2. Cell 3 has no traffic.
const old = await startLogicalPostgres()
const next = await startPlainPostgres()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_moving_'))
const cellsWith = (url: string) =>
  JSON.stringify([
    { number: 1, url, schema: 'cell_1' },
    { number: 2, url: next.url, schema: 'cell_2' },
    { number: 3, url, schema: 'cell_3' },
  ])
const FLORIN_CELLS = cellsWith(old.url)
const options = { database_url: old.url, data_dir, env: { FLORIN_CELLS } }
const first = await startTestService(options)
const second = await startTestService(options)
const nodes = [first, second]
after(() => rm(data_dir, { recursive: true, force: true }))
const env = { FLORIN_DATABASE_URL: old.url, FLORIN_DATA_DIR: data_dir, FLORIN_CELLS }

const cellOf = ({ runtime }: TestService, number: number): Database => {
  const db = runtime.cells?.at(number)?.db
  assert.ok(db !== undefined, `the node serves cell ${number}`)
  return db
}
const placeIn = async (db: Database) => {
  const [row] = await db.rows<{ port: number; schema: string }>(
    `select current_setting('port')::integer as port, current_schema() as schema`,
  )
  return `${row?.port} ${row?.schema}`
}
const portOf = (url: string) => Number(new URL(url).port)

const targets = () =>
  nodes.map(({ url, sandbox_host }) => ({ url, card_host_port: sandbox_host.card_host_port }))
const failing = 'database' as const
const loads = [
  await startAcknowledgedLoad(first, seed, { targets, failing }),
  await startAcknowledgedLoad(first, seed + 1, { targets, failing }),
  await startAcknowledgedLoad(first, seed + 2, { targets, failing }),
]
const loadOf = (cell: number): AcknowledgedLoad => {
  const found = loads.find(({ account_id }) => cellOfId(account_id) === cell)
  assert.ok(found !== undefined, `cell ${cell} has an account`)
  return found
}
const others = [loadOf(0), loadOf(2)]

const move = (cell: number, ...words: string[]) =>
  florin(['cells', 'move', String(cell), ...words], env)

/** The connections on which nodes of the other cells listen: each node has one for each. */
const listeners = async () => {
  const on = (server: typeof old, schema: string | null) =>
    server.query(
      `select pid from pg_stat_activity where query ~ $1
        and application_name like 'florin/%' order by pid`,
      [`listen ${channelIn(schema, 'cell_move')}(;|$)`],
    )
  return [await on(old, null), await on(next, 'cell_2')]
}
const listening = await listeners()

/** The traces of a move on both servers. */
const left = async () => [
  ...(await old.query(`select pubname as name from pg_publication
    union all select slot_name from pg_replication_slots
    union all select state from cell_3.cell_move`)),
  ...(await next.query('select subname as name from pg_subscription')),
]

/** Starts a move and kills it without notice as soon as the condition holds. */
async function killMoveWhen(condition: () => Promise<boolean>): Promise<void> {
  const { ended, kill, captured } = spawnFlorin(['cells', 'move', '3', '--to', next.url], env)
  const isReached = await eventually(condition, WITHIN)
  kill('SIGKILL')
  await ended
  assert.ok(isReached, captured.output)
}

test('another schema, one with tables, and a database with other cells are refused', async () => {
  const elsewhere = await move(1, '--to', withSchema(next.url, 'cell_9'))
  assert.notEqual(elsewhere.code, 0)
  assert.match(
    elsewhere.output,
    /--to has options without the cell's schema. Add "-c search_path=cell_1"/,
  )
  const home = await florin(['cells', 'move', '0', '--to', next.url], env)
  assert.notEqual(home.code, 0)
  assert.match(home.output, /has another cell in its schema cell_1, which a move would stop too/)
  await next.query('create schema cell_1 create table notes (text text)')
  const used = await move(1, '--to', next.url)
  assert.notEqual(used.code, 0)
  assert.match(used.output, /The schema cell_1 at .* is not empty/)
  await next.query('drop schema cell_1 cascade')
  assert.deepEqual(await left(), [])
})

test('a cancelled move leaves nothing behind, and its copy refuses writes until then', async () => {
  await killMoveWhen(async () => (await next.query('select from pg_subscription_rel')).length > 0)
  const early = `insert into cell_3.task_runs values ('early', 'a node', now())`
  await assert.rejects(next.query(early), /this database was moved to another server/)
  const cancelled = await move(3, '--cancel')
  assert.equal(cancelled.code, 0, cancelled.output)
  assert.deepEqual(await left(), [])
  assert.deepEqual(await next.query('select from cell_3.cell'), [])
  assert.equal(await placeIn(cellOf(first, 3)), `${portOf(old.url)} cell_3`)
})

test('if the command dies during the switch, the cell goes on, and the same command continues', async () => {
  const holding = new pg.Client({ connectionString: withSchema(old.url, 'cell_3') })
  holding.on('error', () => undefined)
  const isCopied = async () => {
    const states = await next.query('select srsubstate from pg_subscription_rel')
    return states.length > 0 && states.every(({ srsubstate }) => srsubstate === 'r')
  }
  await killMoveWhen(isCopied)
  await holding.connect()
  await holding.query('begin')
  // The switch waits for this row when it has stopped all writes.
  await holding.query('select from cell_move for update')
  const isStopped = async () => {
    const waiting = await old.query(
      `select from pg_locks l join pg_stat_activity a using (pid)
        where not granted and locktype in ('transactionid', 'tuple')
          and query like 'update cell_move%'`,
    )
    return waiting.length > 0
  }
  await killMoveWhen(isStopped)
  await holding.end()
  const [copying] = await old.query('select state from cell_3.cell_move')
  assert.equal(copying?.['state'], 'copying')
  const isWriting = () =>
    cellOf(second, 3)
      .run(`insert into task_runs values ('after_kill', 'a node', now())`)
      .then(
        () => true,
        () => false,
      )
  assert.ok(await eventually(isWriting, { within_ms: 2_000 }))
  const { output, code } = await move(3, '--to', next.url)
  assert.equal(code, 0, output)
  assert.match(output, /^Continuing the move of cell 3/m)
  assertShortPauses(output)
  const kept = await next.query(`select from cell_3.task_runs where task = 'after_kill'`)
  assert.equal(kept.length, 1)
})

test('a cell that is a schema moves to another server under load', async (t) => {
  const { output, code } = await move(1, '--to', next.url)
  t.diagnostic(output)
  assert.equal(code, 0, output)
  assert.match(output, /^Switched: cell 1 is on .* rows in \d+ tables are equal on both servers/m)
  assertShortPauses(output)
  await loadOf(1).nextSuccess()
  t.diagnostic(`${loadOf(1).unavailable()} refusals, slowest ${loadOf(1).slowestMs()} ms`)
  assertOnTime(loadOf(1).refusedMessages() === 0, 'a card message got the response 91')
  assertOnTime(loadOf(1).slowestMs() < RESPONSE_MS_MAX, `${loadOf(1).slowestMs()} ms`)
})

test('the other cells of both databases keep their connections and refuse nothing', async () => {
  assert.deepEqual(await listeners(), listening)
  assert.deepEqual(
    listening.map((rows) => rows.length),
    [2, 2],
  )
  for (const load of others) {
    assert.equal(load.unavailable(), 0)
    assertOnTime(load.slowestMs() < RESPONSE_MS_MAX, `${load.slowestMs()} ms`)
    await load.nextSuccess()
  }
})

test('every node uses the new server without a restart', async () => {
  for (const node of nodes) {
    for (const cell of [1, 3]) {
      assert.equal(await placeIn(cellOf(node, cell)), `${portOf(next.url)} cell_${cell}`)
    }
  }
  const isLeft = async () => {
    const stillThere = await old.query(
      `select from pg_stat_activity where query ~ $1
        and application_name like 'florin/%'`,
      [`listen ${channelIn('cell_1', 'cell_move')}(;|$)`],
    )
    return stillThere.length === 0
  }
  assert.ok(await eventually(isLeft, WITHIN))
})

test('the old schema refuses writes of everyone', async () => {
  const write = `update cell_1.task_runs set node = 'late'`
  await assert.rejects(old.query(write), /this database was moved to another server/)
  const insert = `insert into cell_1.accounts select * from cell_1.accounts`
  await assert.rejects(old.query(insert), /this database was moved to another server/)
})

test('a node and commands with the old address: one follows the move, the others say so', async () => {
  const third = await startTestService(options)
  assert.equal(await placeIn(cellOf(third, 1)), `${portOf(next.url)} cell_1`)
  await third.stop()
  const { output, code } = await florin(['audit', 'books'], env)
  assert.notEqual(code, 0)
  assert.match(output, /Cell 1 was moved to another server. Name its new address in FLORIN_CELLS/)
})

test('a confirmed move leaves no publication, slot or subscription behind', async () => {
  for (const cell of [1, 3]) {
    const confirmed = await move(cell, '--confirm')
    assert.equal(confirmed.code, 0, confirmed.output)
    assert.match(confirmed.output, new RegExp(`Drop the old schema cell_${cell} when`))
  }
  for (const { url } of [old, next]) {
    const traces = await queryOn(
      url,
      `select pubname as name from pg_publication union all select subname from pg_subscription
        union all select slot_name from pg_replication_slots`,
    )
    assert.deepEqual(traces, [])
  }
})

test('nothing acknowledged was lost or doubled, and all books are sound', async (t) => {
  for (const load of loads) await load.stop()
  for (const load of loads) {
    const db = cellOf(first, cellOfId(load.account_id))
    t.diagnostic(await load.assertKept(db))
    await assertBooksSound(db)
  }
  const after_move = { ...env, FLORIN_CELLS: cellsWith(next.url) }
  const { output, code } = await florin(['audit', 'books'], after_move)
  assert.equal(code, 0, output)
})
