import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { refresh } from '#test/support/agent.ts'
import {
  approvalIn,
  budgetOf,
  decide,
  grantBudget,
  loadCard,
  unloadCard,
} from '#test/support/budgets.ts'
import { advance } from '#test/support/calls.ts'
import { callCard, getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'

/** Two nodes, as an agent would use them to overspend. */
const database = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_overspend_'))
const port = String(await freePort())
const shared = { database_url: database.url, data_dir }
const env = { FLORIN_PUBLIC_URL: `http://127.0.0.1:${port}` }
const service = await startTestService({ ...shared, env: { ...env, FLORIN_PORT: port } })
const other_node = await startTestService({ ...shared, env: { ...env, FLORIN_PORT: '0' } })
const { url } = service
after(async () => {
  await database.drop()
  await rm(data_dir, { recursive: true, force: true })
})

const BUDGET = 20
const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

async function openAgent(period: 'day' | 'month' | 'total' = 'day') {
  const holder = await openHolder(service, 1_000)
  const card = await issueCard(url, holder.key)
  const granted = await grantBudget(url, holder, { amount_usd: BUDGET, period })
  return { holder, card, ...granted }
}

const withdraw = (node: string, bearer: string, usd: number) =>
  send(node, 'POST', '/v1/withdrawals', { bearer, body: { amount_usd: usd, address: ADDRESS } })

const issue = (node: string, bearer: string, usd: number) =>
  send(node, 'POST', '/v1/cards', { bearer, body: { type: 'virtual', load_usd: usd } })

const treasuryOf = async (bearer: string) =>
  Number((await send(url, 'GET', '/v1/balance', { bearer })).body['balance_usd'])

const passed = (replies: readonly Reply[]) => replies.filter(({ status }) => status < 300).length

test('parallel loads on two nodes never pass the budget together', async () => {
  const { holder, card, token } = await openAgent()
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, at) =>
      loadCard(at % 2 === 0 ? url : other_node.url, token, { id: card.id, usd: 3 }),
    ),
  )
  assert.equal(passed(replies), 6)
  for (const reply of replies.filter(({ status }) => status >= 300)) approvalIn(reply)
  assert.equal(await treasuryOf(holder.key), 982)
  assert.equal((await budgetOf(url, token)).used_usd, 18)
})

test('parallel loads, withdrawals and new cards share one budget', async () => {
  const { holder, card, token } = await openAgent()
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => [
      loadCard(url, token, { id: card.id, usd: 6 }),
      withdraw(other_node.url, token, 10),
      issue(url, token, 7),
    ]).flat(),
  )
  assert(passed(replies) >= 1)
  const moved = 1_000 - (await treasuryOf(holder.key))
  assert(moved <= BUDGET, `${moved} moved`)
  assert.equal((await budgetOf(url, token)).used_usd, moved)
})

test('one approval passes one call, however many are made at once on two nodes', async () => {
  const { holder, card, token } = await openAgent()
  const call = (node: string) => loadCard(node, token, { id: card.id, usd: 100 })
  const { id } = approvalIn(await call(url))
  await decide(url, holder.bearer, { id })
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, at) => call(at % 2 === 0 ? url : other_node.url)),
  )
  assert.equal(passed(replies), 1)
  assert.equal(await treasuryOf(holder.key), 900)
})

test('unloading and loading again moves no more than the budget', async () => {
  const { holder, card, token } = await openAgent()
  const rich = await issueCard(url, holder.key, { load_usd: 300 })
  for (let round = 0; round < 3; round += 1) {
    assert.equal((await loadCard(url, token, { id: card.id, usd: BUDGET })).status, 200)
    approvalIn(await loadCard(url, token, { id: card.id, usd: 1 }))
    assert.equal((await unloadCard(url, token, { id: rich.id, usd: BUDGET })).status, 200)
    approvalIn(await loadCard(url, token, { id: card.id, usd: 2 }))
    assert.equal((await unloadCard(url, token, { id: card.id, usd: BUDGET })).status, 200)
  }
  assert.equal((await getCard(url, holder.key, card.id)).balance_usd, 0)
})

test('a replaced card carries its money, but gives no budget back', async () => {
  const { holder, card, token } = await openAgent()
  assert.equal((await loadCard(url, token, { id: card.id, usd: BUDGET })).status, 200)
  const replaced = await callCard(url, { id: card.id, verb: 'replace' }, { bearer: token })
  assert.equal(replaced.status, 200, replaced.text)
  approvalIn(await loadCard(url, token, { id: replaced.body['id'], usd: 1 }))
  assert.equal((await unloadCard(url, token, { id: replaced.body['id'], usd: 5 })).status, 200)
  approvalIn(await loadCard(url, token, { id: replaced.body['id'], usd: 5 }))
  assert.equal(await treasuryOf(holder.key), 985)
})

test('canceling a loaded card gives no budget back', async () => {
  const { holder, card, token } = await openAgent()
  const issued = await issue(url, token, BUDGET)
  assert.equal(issued.status, 201, issued.text)
  await callCard(url, { id: issued.body['id'], verb: 'cancel' }, { bearer: token })
  approvalIn(await loadCard(url, token, { id: card.id, usd: 1 }))
  assert.equal(await treasuryOf(holder.key), 1_000)
})

test('several grants of one client share their usage, and a new one keeps the budget', async () => {
  const { holder, card, agent, token } = await openAgent()
  assert.equal((await loadCard(url, token, { id: card.id, usd: 15 })).status, 200)
  const authorization_details = [{ type: 'card_access', identifier: card.id }]
  const again = await grantBudget(url, holder, null, { agent, authorization_details })
  const { amount_usd, used_usd } = await budgetOf(url, again.token)
  assert.deepEqual([amount_usd, used_usd], [BUDGET, 15])
  approvalIn(await loadCard(other_node.url, again.token, { id: card.id, usd: 6 }))
  assert.equal((await loadCard(url, again.token, { id: card.id, usd: 5 })).status, 200)
  approvalIn(await loadCard(url, token, { id: card.id, usd: 1 }))
})

test('a client that is granted access again has used what it used that day', async () => {
  const { holder, card, agent, token } = await openAgent()
  assert.equal((await loadCard(url, token, { id: card.id, usd: 15 })).status, 200)
  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  await send(url, 'DELETE', `/oauth/grants/${body['data'][0].id}`, { bearer: holder.bearer })
  const again = await grantBudget(url, holder, { amount_usd: BUDGET }, { agent })
  approvalIn(await loadCard(url, again.token, { id: card.id, usd: 6 }))
})

test('midnight starts a new day on both nodes, and not a new month or total', async () => {
  const day = await openAgent('day')
  const total = await openAgent('total')
  for (const { token, card } of [day, total]) {
    assert.equal((await loadCard(url, token, { id: card.id, usd: BUDGET })).status, 200)
    approvalIn(await loadCard(other_node.url, token, { id: card.id, usd: 1 }))
  }
  const now = service.runtime.clock.now()
  const midnight = new Date(now).setUTCHours(24, 0, 0, 0)
  await advance(url, day.holder.key, Math.ceil((midnight - now.getTime()) / 1_000) + 60)
  const renewed = await refresh(day.agent, day.refresh_token)
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      loadCard(at % 2 === 0 ? url : other_node.url, renewed.access_token, {
        id: day.card.id,
        usd: 7,
      }),
    ),
  )
  assert.equal(passed(replies), 2)
  // Money of yesterday gives nothing back today.
  await unloadCard(url, renewed.access_token, { id: day.card.id, usd: 34 })
  assert.equal((await budgetOf(url, renewed.access_token)).used_usd, 0)
  assert.equal(
    (await loadCard(url, renewed.access_token, { id: day.card.id, usd: 20 })).status,
    200,
  )
  approvalIn(await loadCard(url, renewed.access_token, { id: day.card.id, usd: 1 }))
  const spent = await refresh(total.agent, total.refresh_token)
  approvalIn(await loadCard(url, spent.access_token, { id: total.card.id, usd: 1 }))
})

test('after every attack the books are sound', () => assertBooksSound(service.runtime.db))
