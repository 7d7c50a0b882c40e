import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setCellState } from '#domain/directory/cell_store.ts'
import { cellOfId } from '#kernel/id.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { one_cell } from '#test/support/account_cell.ts'
import { assertRefused } from '#test/support/calls.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { type DatabaseProxy, databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { holdRows } from '#test/support/held_rows.ts'
import type { Reply } from '#test/support/http.ts'
import { operate, setKillSwitch } from '#test/support/operator.ts'
import { callSandbox, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const BACK_MS_MAX = 30_000
const CLOSED_MS = 1_500

const [home, other] = [await cloneDatabase(), await cloneDatabase()]
const other_db = openDatabase(other.url, { pool_size: 1 })
const data_dir = await mkdtemp(join(tmpdir(), 'florin_switches_'))
const links = [await databaseProxy(other.url), await databaseProxy(other.url)] as const

/** A node that reaches cell 1 through a link of its own. */
const startNode = (link: DatabaseProxy) =>
  startTestService({
    database_url: home.url,
    data_dir,
    env: { FLORIN_CELLS: JSON.stringify([{ number: 1, url: link.url }]) },
  })
const first = await startNode(links[0])
const second = await startNode(links[1])
after(async () => {
  for (const link of links) await link.close()
  await other_db.close()
  await home.drop()
  await other.drop()
  await rm(data_dir, { recursive: true, force: true })
})

await setCellState(first.runtime.db, 0, 'closed')
const spender = await openSpender(first, { usd: 500 })
assert.equal(cellOfId(spender.account_id), 1)

const change = (on: boolean): Promise<Reply> =>
  operate(first.url, 'PUT', '/kill_switches/authorizations', { body: { on, reason: 'a test' } })
const buy = ({ url }: typeof first) =>
  callSandbox(url, spender.key, `cards/${spender.card.id}/authorize`, { amount: 1 })

/** The first purchase that the cell decides. Until it is back, calls get 503. */
async function firstDecision(node: typeof first): Promise<string> {
  let reply = await buy(node)
  const isDecided = async () => {
    if (reply.status !== 200) reply = await buy(node)
    return reply.status === 200
  }
  assert.ok(await eventually(isDecided, { within_ms: BACK_MS_MAX }), reply.text)
  return reply.body.type
}

test('a switch is changed in all cells when the call returns', async () => {
  for (const node of [first, second]) assert.equal(await firstDecision(node), 'authorization')
  await setKillSwitch(first.url, 'authorizations', true)
  for (const node of [first, second]) assert.equal((await buy(node)).body.type, 'decline')
  await setKillSwitch(first.url, 'authorizations', false)
  for (const node of [first, second]) assert.equal((await buy(node)).body.type, 'authorization')
})

test('a cell that was down when payments were paused accepts none when it is back', async () => {
  for (const link of links) await link.cut()
  const refused = await change(true)
  assertRefused(refused, 503, 'service_unavailable')
  assert.match(refused.body.message, /is changed, but not all cells respond/)
  // The node that made the change does not reach the cell yet, so the other one hands it over.
  await links[1].heal()
  assert.equal(await firstDecision(second), 'decline')
  await links[0].heal()
  assert.equal(await firstDecision(first), 'decline')
  const [listed] = (await operate(second.url, 'GET', '/kill_switches')).body.data
  assert.deepEqual([listed.rail, listed.on, listed.reason], ['authorizations', true, 'a test'])
})

test('a cell that is back is not used before it has taken the change over', async () => {
  await setKillSwitch(first.url, 'authorizations', false)
  for (const node of [first, second]) assert.equal(await firstDecision(node), 'authorization')
  for (const link of links) await link.cut()
  assertRefused(await change(true), 503, 'service_unavailable')
  // Other sessions can read the switches meanwhile, so the cell would accept payments.
  const held = await holdRows(other_db, (tx) => tx.rows('select from kill_switches for update'))
  for (const link of links) await link.heal()
  const until = performance.now() + CLOSED_MS
  const statuses = new Set<number>()
  while (performance.now() < until) {
    for (const node of [first, second]) statuses.add((await buy(node)).status)
  }
  await held.release()
  assert.deepEqual([...statuses], [503])
  for (const node of [first, second]) assert.equal(await firstDecision(node), 'decline')
})

test('a cell that was down when payments were resumed accepts them when it is back', async () => {
  for (const link of links) await link.cut()
  assertRefused(await change(false), 503, 'service_unavailable')
  for (const link of links) await link.heal()
  const isAccepted = async () => (await buy(first)).body.type === 'authorization'
  assert.ok(await eventually(isAccepted, { within_ms: BACK_MS_MAX }))
})

test('with one cell, nothing follows the kill switches', async () => {
  const single = await startTestService({ env: one_cell })
  assert.equal(await countFollowers(single), 0)
  assert.ok((await countFollowers(first)) > 0)
})

async function countFollowers({ owner_db }: typeof first): Promise<number> {
  const sessions = await owner_db.rows(
    `select from pg_stat_activity
      where datname = current_database() and query ~ '^listen .*kill_switches'`,
  )
  return sessions.length
}
