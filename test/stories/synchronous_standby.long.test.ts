import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCheck } from '#main/doctor/check.ts'
import { databaseChecks } from '#main/doctor/database_checks.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { PostgresPair, type PostgresServer } from '#test/support/postgres_pair.ts'
import { startTestService } from '#test/support/start.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_standby_'))
const pair = await PostgresPair.start(folder)
after(async () => {
  await pair.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})
const node = await startTestService({ database_url: pair.url })
const holder = await openHolder(node, 1_000)
const card = await issueCard(node.url, holder.key)

const load = (key: string, amount_usd: number) =>
  callCard(
    node.url,
    { id: card.id, verb: 'load' },
    { bearer: holder.key, body: { amount_usd }, key },
  )

/** True if this server has the load of so many dollars. */
async function hasLoad(server: PostgresServer, amount_usd: number): Promise<boolean> {
  const rows = await pair.queryOn(
    server,
    `select 1 from movements where movement = 'card_loaded' and amount_micros = $1`,
    [amount_usd * 1_000_000],
  )
  return rows.length === 1
}

/** The commit of a load that waits for the standby; commits of tasks may wait beside it. */
const WAITING_LOAD = `
  from pg_stat_activity a
  join pg_locks l on l.pid = a.pid and l.relation = 'movements'::regclass
                 and l.mode = 'RowExclusiveLock'
 where a.wait_event = 'SyncRep'`

test('while the standby is silent nothing is acknowledged, and afterwards the key shows which', async (t) => {
  const key = randomUUID()
  await pair.signalReceiver('SIGSTOP')
  const began = performance.now()
  const refused = await load(key, 11)
  const deadline_ms = Math.round(performance.now() - began)
  assert.equal(refused.status, 503, refused.text)
  assert.notEqual(refused.headers.get('retry-after'), null)
  assert.equal(await hasLoad(pair.standby, 11), false)
  await pair.signalReceiver('SIGCONT')
  const isDone = async () => (await load(key, 11)).status === 200
  assert(await eventually(isDone, { within_ms: 30_000 }))
  const again = await load(key, 11)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert(await eventually(() => hasLoad(pair.standby, 11), { within_ms: 10_000 }))
  t.diagnostic(`503 after ${deadline_ms} ms`)
})

test('a wait for the standby that is canceled is not taken for a commit', async () => {
  const key = randomUUID()
  await pair.signalReceiver('SIGSTOP')
  const pending = load(key, 12)
  const cancel = async () => {
    const rows = await pair.query(`select pg_cancel_backend(a.pid) ${WAITING_LOAD}`)
    return rows.length > 0
  }
  assert(await eventually(cancel, { within_ms: 4_000 }), 'a commit waits for the standby')
  const reply = await pending
  assert.equal(reply.status, 503, reply.text)
  assert.equal(await hasLoad(pair.primary, 12), true, 'the primary shows it')
  assert.equal(await hasLoad(pair.standby, 12), false)
  // A replay would acknowledge it, so it has to wait for the standby as well.
  assert.equal((await load(key, 12)).status, 503)
  await pair.signalReceiver('SIGCONT')
  assert(await eventually(async () => (await load(key, 12)).status === 200, { within_ms: 30_000 }))
  assert(await hasLoad(pair.standby, 12))
})

test('a primary that is restarted during the wait acknowledges nothing the standby lacks', async () => {
  const key = randomUUID()
  await pair.signalReceiver('SIGSTOP')
  const pending = load(key, 13)
  const isWaiting = async () => (await pair.query(`select 1 ${WAITING_LOAD}`)).length > 0
  assert(await eventually(isWaiting, { within_ms: 4_000 }))
  await pair.kill(pair.primary)
  await pair.restart(pair.primary)
  assert.equal((await pending).status, 503)
  assert.equal(await hasLoad(pair.primary, 13), true)
  const early = await load(key, 13)
  assert.equal(early.status, 503, 'a stored response is not replayed before the standby has it')
  await pair.signalReceiver('SIGCONT')
  assert(await eventually(async () => (await load(key, 13)).status === 200, { within_ms: 30_000 }))
  assert(await hasLoad(pair.standby, 13))
})

test('the doctor reports standbys that are asynchronous, in live mode as an error', async () => {
  const books = { db: node.owner_db, close: async () => {} }
  const diagnose = async (mode: 'sandbox' | 'live') => {
    const check = databaseChecks(async () => books, mode).find(({ name }) => name === 'standbys')
    assert(check !== undefined)
    const { state, found } = await runCheck(check)
    return `${state} ${found}`
  }
  assert.equal(await diagnose('live'), 'ok 1 connected, synchronous (*)')
  await pair.query(`alter system set synchronous_standby_names = ''`)
  await pair.query('select pg_reload_conf()')
  const isReported = async () => (await diagnose('live')).startsWith('wrong 1 connected, async')
  assert(await eventually(isReported, { within_ms: 10_000 }))
  assert.match(await diagnose('sandbox'), /^note 1 connected, asynchronous: .* lose acknowledged/)
})
