import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { type BudgetAgent, grantBudget, loadCard, unloadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { readPdf } from '#test/support/pdf.ts'
import { follow, authorize as purchase } from '#test/support/spending.ts'
import { requested } from '#test/support/withdrawals.ts'

const service = await startAgentService()
const { url } = service
const SCOPES = [
  'balance:read',
  'card:read',
  'card:issue',
  'card:control',
  'topup:create',
  'topup:read',
  'transaction:read',
  'withdrawal:create',
  'withdrawal:read',
]

async function openTrail() {
  const holder = await openHolder(service, 500)
  const options = { scope: SCOPES.join(' '), scopes: SCOPES }
  const agent = await grantBudget(url, holder, { amount_usd: 400 }, options)
  const other = await grantBudget(url, holder, { amount_usd: 400 }, options)
  return { holder, key: holder.key, agent, other }
}

const clientOf = ({ agent }: BudgetAgent) => agent.client.client_id

async function idsIn(bearer: string, path: string): Promise<string[]> {
  const reply = await send(url, 'GET', path, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data'].map(({ id }: { id: string }) => id)
}

async function buy(key: string, card: Awaited<ReturnType<typeof issueCard>>, amount: number) {
  const { id } = await purchase(url, { key, card }, { amount })
  await follow(url, { key }, { id, verb: 'capture' })
  return id
}

test('cards, purchases, withdrawals, top-ups and activity are found by the agent behind them', async () => {
  const { holder, key, agent, other } = await openTrail()
  const own = await issueCard(url, key, { load_usd: 20 })
  const card = await issueCard(url, agent.token, { load_usd: 30 })
  const others = await issueCard(url, other.token)
  await buy(key, own, 5)
  const bought = await buy(key, card, 7)
  const withdrawal = await requested({ url, bearer: agent.token }, 20)
  await requested({ url, bearer: key }, 20)
  const topup = await send(url, 'POST', '/v1/topups', {
    bearer: agent.token,
    body: { amount_usd: 50 },
  })
  const filter = `agent=${clientOf(agent)}`
  assert.deepEqual(await idsIn(key, `/v1/cards?${filter}`), [card.id])
  const both = `agent=${clientOf(agent)},${clientOf(other)}`
  assert.deepEqual(await idsIn(key, `/v1/cards?${both}`), [others.id, card.id])
  assert.deepEqual(await idsIn(key, `/v1/transactions?type=authorization&${filter}`), [bought])
  assert.deepEqual(await idsIn(key, `/v1/withdrawals?${filter}`), [withdrawal.id])
  assert.deepEqual(await idsIn(key, `/v1/topups?${filter}`), [topup.body['id']])
  const activity = await send(url, 'GET', `/v1/activity?order=asc&${filter}`, holder)
  const events = activity.body['data'].map(({ event }: { event: string }) => event)
  assert.deepEqual(events.slice(0, 3), ['card.issued', 'card.loaded', 'transaction.authorized'])
  assert.ok(events.includes('topup.created'), events.join())
  const cards = activity.body['data'].map(({ card_id }: { card_id: string }) => card_id)
  assert.ok(!cards.includes(own.id))
  assert.ok(!cards.includes(others.id))
  const spent = await idsIn(key, `/v1/activity?type=spend&${filter}`)
  assert.ok(spent.length >= 2)
  assert.deepEqual(await idsIn(key, '/v1/cards?agent=nobody'), [])
})

test('a load of the owner’s card is in the activity of the agent that made it', async () => {
  const { holder, key, agent } = await openTrail()
  const own = await issueCard(url, key)
  assert.equal((await loadCard(url, agent.token, { id: own.id, usd: 9 })).status, 200)
  assert.equal((await loadCard(url, key, { id: own.id, usd: 8 })).status, 200)
  const reply = await send(url, 'GET', `/v1/activity?agent=${clientOf(agent)}`, holder)
  const rows = reply.body['data'] as { event: string; amount_usd: number }[]
  assert.deepEqual(
    rows.map(({ event, amount_usd }) => [event, amount_usd]),
    [['card.loaded', 9]],
  )
})

test('a replacement belongs to the issuer of the first card', async () => {
  const { key, agent } = await openTrail()
  const card = await issueCard(url, agent.token)
  const replaced = await send(url, 'POST', `/v1/cards/${card.id}/replace`, { bearer: key })
  const own = await issueCard(url, key)
  const by_agent = await send(url, 'POST', `/v1/cards/${own.id}/replace`, { bearer: agent.token })
  assert.equal(by_agent.status, 200, by_agent.text)
  const listed = await idsIn(key, `/v1/cards?agent=${clientOf(agent)}`)
  assert.deepEqual(listed, [replaced.body['id'], card.id])
})

test('a statement has a line per agent and one of the owner, which add up to it', async () => {
  const { holder, key, agent, other } = await openTrail()
  const own = await issueCard(url, key, { load_usd: 20 })
  const card = await issueCard(url, agent.token, { load_usd: 30 })
  await loadCard(url, agent.token, { id: own.id, usd: 4 })
  await unloadCard(url, agent.token, { id: own.id, usd: 1 })
  await buy(key, own, 5)
  await buy(key, card, 7)
  await requested({ url, bearer: agent.token }, 20)
  await requested({ url, bearer: other.token }, 30)
  const month = new Date().toISOString().slice(0, 7)
  const file = async (name: string) =>
    send(url, 'GET', `/files/statements/${month}.${name}`, holder)
  const { data } = (await file('agents.json')).body as { data: Record<string, unknown>[] }
  const zero = { deposits_usd: 0, refunds_usd: 0, disputes_usd: 0, other_usd: 0, unloaded_usd: 0 }
  const shopper = { agent: 'Shopper', ...zero }
  const lines = [
    {
      ...{ ...shopper, client_id: clientOf(agent), withdrawals_usd: -19, fees_usd: -1 },
      ...{ spent_usd: -7, total_usd: -27, loaded_usd: 34, unloaded_usd: 1 },
    },
    {
      ...{ ...shopper, client_id: clientOf(other), withdrawals_usd: -29, fees_usd: -1 },
      ...{ spent_usd: 0, total_usd: -30, loaded_usd: 0 },
    },
  ]
  const byClient = (one: { client_id?: unknown }, two: { client_id?: unknown }) =>
    String(one.client_id) < String(two.client_id) ? -1 : 1
  assert.deepEqual(data.slice(0, 2).sort(byClient), lines.sort(byClient))
  assert.deepEqual(data[2], {
    ...{ agent: 'You', client_id: null, ...zero, other_usd: 500, withdrawals_usd: 0 },
    ...{ spent_usd: -5, fees_usd: 0, total_usd: 495, loaded_usd: 20 },
  })
  const csv = (await file('agents.csv')).text.trimEnd().split('\n')
  assert.equal(
    csv[0],
    'agent,client_id,deposits_usd,withdrawals_usd,spent_usd,refunds_usd,disputes_usd,fees_usd,' +
      'other_usd,total_usd,loaded_usd,unloaded_usd',
  )
  assert.equal(csv[3], 'You,,0.00,0.00,-5.00,0.00,0.00,0.00,500.00,495.00,20.00,0.00')
  const pdf = await fetch(`${url}/files/statements/${month}.pdf`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const [page = []] = readPdf(Buffer.from(await pdf.arrayBuffer()))
  const at = page.indexOf('By agent')
  assert.ok(at > 0, page.join('|'))
  assert.equal(page.filter((text) => text === 'Shopper').length, 2)
  assert.ok(page.includes('-$27.00'))
})

test('an account without agents has only the owner’s line, and its PDF none', async () => {
  const { bearer } = await openHolder(service, 50)
  const month = new Date().toISOString().slice(0, 7)
  const reply = await send(url, 'GET', `/files/statements/${month}.agents.json`, { bearer })
  assert.deepEqual(
    reply.body['data'].map(({ agent }: { agent: string }) => agent),
    ['You'],
  )
  const pdf = await fetch(`${url}/files/statements/${month}.pdf`, {
    headers: { authorization: `Bearer ${bearer}` },
  })
  const texts = readPdf(Buffer.from(await pdf.arrayBuffer())).flat()
  assert.ok(!texts.includes('By agent'))
})
