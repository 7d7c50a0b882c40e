// Runs alone, because it bounds response times.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { openConnection } from '#sandbox/card_network.ts'
import { openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import { pick } from '#test/support/mixed_storm_actors.ts'
import { startTestService } from '#test/support/start.ts'
import { seeded } from '#test/support/storm.ts'

/** More than a node's connections for calls of accounts. */
const CALLERS = 40
const SHOPS = 8

const node = await startTestService()
const { url } = node
const owner = await openOwner(node, 4)
const callers = await Promise.all(Array.from({ length: CALLERS }, () => openHolder(node)))
const blocker = new pg.Client({ connectionString: node.database_url })
blocker.on('error', () => undefined)
await blocker.connect()
after(() => blocker.end())

const waitingStatements = async () => {
  const [row] = await node.owner_db.rows<{ count: bigint }>(
    `select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return Number(row?.count)
}

/** Purchases until told to stop; their latencies in milliseconds. */
async function shop(at: number, isOver: () => boolean): Promise<number[]> {
  const random = seeded(at)
  const line = await openConnection(node.sandbox_host.card_host_port)
  const took: number[] = []
  while (!isOver()) {
    const began = performance.now()
    const { fields } = await line.send(purchaseMessage(pick(owner.cards, random), 1))
    took.push(performance.now() - began)
    assert.equal(fields[39], '00')
  }
  line.end()
  return took
}

test('card messages are approved while slow queries hold every connection of other calls', async (t) => {
  await blocker.query('begin')
  await blocker.query('lock table webhooks in access exclusive mode')
  let isOver = false
  const slow = callers.map(({ key }) => send(url, 'GET', '/v1/webhooks', { bearer: key }))
  assert(await eventually(async () => (await waitingStatements()) >= 12, { within_ms: 10_000 }))
  const shops = Array.from({ length: SHOPS }, (_, at) => shop(at, () => isOver))
  const began = performance.now()
  const refused = await send(url, 'GET', '/v1/balance', { bearer: owner.key })
  const refused_ms = performance.now() - began
  assert.equal(refused.status, 503, refused.text)
  assert.notEqual(refused.headers.get('retry-after'), null)
  const slow_statuses = (await Promise.all(slow)).map(({ status }) => status)
  isOver = true
  const took = (await Promise.all(shops)).flat().sort((one, two) => one - two)
  await blocker.query('rollback')
  assert.deepEqual(new Set(slow_statuses), new Set([503]))
  assert(took.length > 100, `${took.length} messages`)
  const p99 = took[Math.floor(took.length * 0.99)] ?? Infinity
  assert(p99 < 1_500, `p99 ${p99} ms`)
  const isBack = async () => (await send(url, 'GET', '/v1/balance', { bearer: owner.key })).status
  assert(await eventually(async () => (await isBack()) === 200, { within_ms: 10_000 }))
  t.diagnostic(
    `${took.length} messages, p99 ${p99.toFixed(0)} ms; ` +
      `other calls got a 503 after ${refused_ms.toFixed(0)} ms`,
  )
})
