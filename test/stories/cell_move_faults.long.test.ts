// Runs alone, because starts and moves wait only seconds for a busy server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { takeArchiveLock } from '#domain/archive/archive_lock.ts'
import { openSession } from '#platform/postgres/session.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { assertShortPauses } from '#test/support/cell_moves.ts'
import { eventually } from '#test/support/eventually.ts'
import { florin, spawnFlorin } from '#test/support/florin_process.ts'
import { startPlainPostgres } from '#test/support/logical_postgres.ts'
import { assertOnTime } from '#test/support/on_time.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

/** The pause, and the time of the call after it. */
const OUTAGE_MS_MAX = 2_000
const WITHIN = { within_ms: 30_000 }

// One database is cell 0, and it moves like any other cell.
const old = await startPlainPostgres()
const next = await startPlainPostgres()
const service = await startTestService({ database_url: old.url })
const { url } = service
const env = { FLORIN_DATABASE_URL: old.url, FLORIN_DATA_DIR: service.data_dir }
const holder = await openHolder(service, 500)
const card = await issueCard(url, holder.key, { load_usd: 300 })

const move = (...words: string[]) => florin(['cells', 'move', '0', ...words], env)
const moveTo = (to: string, ...words: string[]) => move('--to', to, ...words)

async function assertRefusal(refused: ReturnType<typeof move>, sentence: RegExp): Promise<void> {
  const { code, output } = await refused
  assert.match(output, sentence)
  assert.notEqual(code, 0)
  assert.doesNotMatch(output, /\n +at /, 'a person gets a sentence, not a stack')
}

const approve = async () => {
  const { status } = await authorize(url, { key: holder.key, card }, { amount: 1 })
  assert.equal(status, 'pending')
}

/** The traces of a move on both servers. */
const left = async () => [
  ...(await old.query(`select pubname as name from pg_publication
    union all select slot_name from pg_replication_slots
    union all select state from cell_move`)),
  ...(await next.query('select subname as name from pg_subscription')),
]

const isApproving = () =>
  approve().then(
    () => true,
    () => false,
  )

test('a server without logical decoding is refused with the statement that enables it', async () => {
  await assertRefusal(moveTo(next.url), /wal_level = replica, .*set wal_level = logical/)
  assert.deepEqual(await left(), [])
  await old.query('alter system set wal_level = logical')
  await old.restart()
  assert.ok(await eventually(isApproving, WITHIN))
})

test('wrong input is refused before anything is changed', async () => {
  await next.query('create database used')
  const used = new URL(next.url)
  used.pathname = '/used'
  const same = new URL(old.url)
  same.pathname = '/postgres'
  const nobody = new URL(next.url)
  nobody.password = 'wrong'
  const filled = new pg.Client({ connectionString: used.href })
  await filled.connect()
  await filled.query('create table notes (text text)')
  await filled.end()
  await assertRefusal(move(), /Give one of --to <url>, --cancel and --confirm/)
  await assertRefusal(moveTo(next.url, '--cancel'), /Give one of --to <url>/)
  await assertRefusal(moveTo('mysql://db2/florin'), /--to must be an address such as postgres:/)
  await assertRefusal(florin(['cells', 'move', '9', '--to', next.url], env), /There is no cell 9/)
  await assertRefusal(moveTo(same.href), /Both addresses are on the same server/)
  await assertRefusal(moveTo(used.href), /The database at .*\/used is not empty/)
  await assertRefusal(moveTo(nobody.href), /Can't connect to the new server at /)
  await assertRefusal(move('--cancel'), /Cell 0 is not being moved/)
  await assertRefusal(move('--confirm'), /Cell 0 has no move to confirm/)
  await next.query(`create role plain login password 'plain'`)
  const plain = new URL(next.url)
  Object.assign(plain, { username: 'plain', password: 'plain' })
  await assertRefusal(moveTo(plain.href), /The login plain is not a superuser of the new server/)
  assert.deepEqual(await left(), [])
})

test('a cell that is being archived is not moved', async () => {
  const archiving = await openSession(old.url)
  assert(await takeArchiveLock(archiving))
  await assertRefusal(moveTo(next.url), /Another command is archiving or moving cell 0/)
  assert.deepEqual(await left(), [])
  await archiving.close()
})

/** Starts a move and kills it without notice as soon as the condition holds. */
async function killMoveWhen(condition: () => Promise<boolean>): Promise<void> {
  const { ended, kill, captured } = spawnFlorin(['cells', 'move', '0', '--to', next.url], env)
  const isReached = await eventually(condition, WITHIN)
  kill('SIGKILL')
  await ended
  assert.ok(isReached, captured.output)
}

const isSubscribed = async () => (await next.query('select from pg_subscription')).length > 0

test('a cancelled move leaves both servers as they were before', async () => {
  await killMoveWhen(isSubscribed)
  assert.ok((await left()).length > 0)
  const { code, output } = await move('--cancel')
  assert.equal(code, 0, output)
  assert.match(output, /The move of cell 0 was canceled. It continues at /)
  assert.deepEqual(await left(), [])
  assert.deepEqual(await next.query('select from accounts'), [])
  await approve()
})

/** The servers go on without the command. A transaction that writes would hold up the copy. */
const isCopied = async () =>
  (await next.query(`select from pg_subscription_rel where srsubstate <> 'r'`)).length === 0

/** A failover of the old server leaves it like this: slots stay on the primary that is gone. */
async function loseSlot(): Promise<void> {
  const drop = `select pg_drop_replication_slot(slot_name)
    from (select slot_name, pg_terminate_backend(active_pid, 5000) from pg_replication_slots
          offset 0) as slots`
  const isLost = async () => {
    // The new server may connect to its slot again in between.
    await old.query(drop).catch(() => undefined)
    return (await old.query('select from pg_replication_slots')).length === 0
  }
  assert.ok(await eventually(isLost, WITHIN))
}

test('a move whose slot is lost says so instead of waiting, and can be canceled', async () => {
  await killMoveWhen(isSubscribed)
  assert.ok(await eventually(isCopied, WITHIN))
  await loseSlot()
  await assertRefusal(
    moveTo(next.url),
    /no longer has the replication slot of the move of cell 0.* Run `florin cells move 0 --cancel`/,
  )
  const { code, output } = await move('--cancel')
  assert.equal(code, 0, output)
  assert.match(output, /The move of cell 0 was canceled. It continues at /)
  assert.deepEqual(await left(), [])
  await approve()
})

test('a node refuses a copy that is not in use yet, and a cell on the move is not archived', async () => {
  await killMoveWhen(isSubscribed)
  // A start looks for a move for 100 ms only, which is too short beside the copy on a busy machine.
  assert.ok(await eventually(isCopied, WITHIN))
  const archived = florin(['archive', 'create', service.data_dir], env)
  await assertRefusal(
    archived,
    /This database is being moved. Archive it when the move is confirmed/,
  )
  const early = startTestService({ database_url: next.url, data_dir: service.data_dir })
  await assert.rejects(early, /cell 0 is a copy that is not in use yet/)
  await assertRefusal(move('--confirm'), /Cell 0 has not been switched yet/)
})

test('if the command dies during the switch, the cell continues on the old server', async () => {
  const holding = new pg.Client({ connectionString: old.url })
  holding.on('error', () => undefined)
  await holding.connect()
  await holding.query('begin')
  // The switch waits for this row when it has stopped all writes.
  await holding.query('select from cell_move for update')
  const isStopped = async () => {
    const waiting = await old.query(
      `select from pg_locks where not granted and locktype in ('transactionid', 'tuple')`,
    )
    return waiting.length > 0
  }
  await killMoveWhen(isStopped)
  await holding.end()
  assert.ok(await eventually(isApproving, { within_ms: 2_000 }))
  assert.equal((await old.query(`select from cell_move where state = 'copying'`)).length, 1)
})

test('a switch that takes too long is given up each time, and the cell goes on', async () => {
  const blocking = new pg.Client({ connectionString: next.url })
  await blocking.connect()
  await blocking.query('set default_transaction_read_only = off; begin')
  // The proofs of the copy can still read, and the subscription can't write.
  await blocking.query('lock table task_runs in share mode')
  await old.query(`insert into task_runs values ('ahead', 'a node', now())`)
  // The move waits while the new server is more than a megabyte behind, and whole pages fill that.
  await old.query('alter system set full_page_writes = off')
  await old.query('select pg_reload_conf()')
  const moving = moveTo(next.url)
  let isOver = false
  const ended = moving.finally(() => {
    isOver = true
  })
  let approved_at = performance.now()
  let longest_ms = 0
  while (!isOver) {
    if (await isApproving()) {
      longest_ms = Math.max(longest_ms, performance.now() - approved_at)
      approved_at = performance.now()
    }
    await delay(200)
  }
  const { code, output } = await ended
  await blocking.end()
  assert.notEqual(code, 0)
  const given_up = /given up after \d+ ms, while waiting for the new server/g
  assert.equal([...output.matchAll(given_up)].length, 5, output)
  assert.match(output, /Cell 0 was not switched: given up .* It continues on the old server\./)
  assertShortPauses(output)
  assertOnTime(longest_ms < OUTAGE_MS_MAX, `no approval for ${longest_ms} ms`)
})

test('the same command continues an interrupted move, and ends a transaction in its way', async () => {
  const stuck = new pg.Client({ connectionString: old.url })
  stuck.on('error', () => undefined)
  await stuck.connect()
  await stuck.query('set role florin_service; begin')
  await stuck.query(`insert into task_runs values ('stuck', 'a node without a network', now())`)
  const { code, output } = await moveTo(next.url)
  assert.equal(code, 0, output)
  assert.match(output, /Continuing the move of cell 0/)
  assert.match(output, /Switched: cell 0 is on /)
  assertShortPauses(output)
  await assert.rejects(stuck.query('commit'))
  for (const each of [old, next]) {
    assert.deepEqual(await each.query(`select from task_runs where task = 'stuck'`), [])
  }
  await assertRefusal(move('--cancel'), /Cell 0 has been switched/)
})

test('cell 0 works on the new server, with its directory, sessions and numbers', async () => {
  await approve()
  const opened = await openHolder(service, 20)
  const rows = await next.query('select from accounts where id = $1', [opened.account_id])
  assert.equal(rows.length, 1)
  const again = await openHolder(service, 20)
  assert.notEqual(again.account_id, opened.account_id)
  const { code, output } = await florin(['cells', 'move', '0', '--confirm'], {
    ...env,
    FLORIN_DATABASE_URL: next.url,
  })
  assert.equal(code, 0, output)
  assert.match(output, /The move of cell 0 is confirmed/)
})
