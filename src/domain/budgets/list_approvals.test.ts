import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { approvalIn, decide, grantBudget, listApprovals, loadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service, 500)
const card = await issueCard(url, holder.key)
const first = await grantBudget(url, holder, { amount_usd: 20 })
const second = await grantBudget(url, holder, { amount_usd: 20 })
const load = (token: string, usd: number) => loadCard(url, token, { id: card.id, usd })
const idsOf = async (bearer: string, query = '') =>
  (await listApprovals(url, bearer, query)).map(({ id }) => id)

const asked = [
  approvalIn(await load(first.token, 60)).id,
  approvalIn(await load(first.token, 70)).id,
  approvalIn(await load(second.token, 60)).id,
] as const

test('the owner sees the approvals of every app, newest first; a token sees its own', async () => {
  for (const bearer of [holder.bearer, holder.key]) {
    assert.deepEqual(await idsOf(bearer), [...asked].reverse())
  }
  assert.deepEqual(await idsOf(first.token), [asked[1], asked[0]])
  assert.deepEqual(await idsOf(second.token), [asked[2]])
  assert.deepEqual(await idsOf((await openHolder(service)).key), [])
})

test('a repeated call gets the same approval', async () => {
  const repeats = await Promise.all(Array.from({ length: 8 }, () => load(first.token, 60)))
  for (const reply of repeats) assert.equal(approvalIn(reply).id, asked[0])
  assert.equal((await idsOf(first.token)).length, 2)
})

test('filters by status and agent', async () => {
  await decide(url, holder.bearer, { id: asked[1] })
  await decide(url, holder.bearer, { id: asked[2], decision: 'decline' })
  assert.deepEqual(await idsOf(holder.bearer, '?status=pending'), [asked[0]])
  assert.deepEqual(await idsOf(holder.bearer, '?status=approved,declined'), [asked[2], asked[1]])
  assert.deepEqual(await idsOf(holder.bearer, '?status=used'), [])
  const client_id = first.agent.client.client_id
  assert.deepEqual(await idsOf(holder.bearer, `?agent=${client_id}`), [asked[1], asked[0]])
  assert.deepEqual(await idsOf(holder.bearer, `?agent=${client_id}&status=pending`), [asked[0]])
  const page = await send(url, 'GET', '/v1/approvals?limit=2', { bearer: holder.key })
  assert.equal(page.body['has_more'], true)
  const next = `?limit=2&cursor=${page.body['next_cursor']}`
  assert.deepEqual(await idsOf(holder.key, next), [asked[0]])
})
