import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import {
  approvalIn,
  budgetOf,
  decide,
  grantBudget,
  listApprovals,
  loadCard,
  unloadCard,
} from '#test/support/budgets.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'

const service = await startAgentService()
const { url } = service
const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

async function openAgent(budget: Parameters<typeof grantBudget>[2], usd = 1_000) {
  const holder = await openHolder(service, usd)
  const card = await issueCard(url, holder.key, { name: 'Groceries' })
  return { holder, card, ...(await grantBudget(url, holder, budget)) }
}

test('get_limits shows the budget of the token, and null to the owner', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 50, ask_above_usd: 30 })
  assert.equal((await loadCard(url, token, { id: card.id, usd: 12.5 })).status, 200)
  const { resets_at, ...budget } = await budgetOf(url, token)
  assert.deepEqual(budget, {
    amount_usd: 50,
    period: 'day',
    used_usd: 12.5,
    ask_above_usd: 30,
  })
  const midnight = new Date(service.runtime.clock.now().setUTCHours(24, 0, 0, 0))
  assert.equal(resets_at, midnight.toISOString())
  for (const bearer of [holder.key, holder.bearer]) assert.equal(await budgetOf(url, bearer), null)
})

test('loads, loads of new cards and withdrawals count; the call beyond is refused', async () => {
  const { card, token } = await openAgent({ amount_usd: 50 })
  assert.equal((await loadCard(url, token, { id: card.id, usd: 20 })).status, 200)
  await issueCard(url, token, { load_usd: 10 })
  const withdrawal = { amount_usd: 15, address: ADDRESS }
  const withdrawn = await send(url, 'POST', '/v1/withdrawals', { bearer: token, body: withdrawal })
  assert.equal(withdrawn.status, 201, withdrawn.text)
  assert.equal((await budgetOf(url, token)).used_usd, 45)

  approvalIn(await loadCard(url, token, { id: card.id, usd: 5.01 }))
  const issue = { bearer: token, body: { type: 'virtual', load_usd: 6 } }
  approvalIn(await send(url, 'POST', '/v1/cards', issue))
  approvalIn(await send(url, 'POST', '/v1/withdrawals', { bearer: token, body: withdrawal }))
  assert.equal((await budgetOf(url, token)).used_usd, 45)
  assert.equal((await loadCard(url, token, { id: card.id, usd: 5 })).status, 200)
})

test('a refused call moves nothing, and says who wants what', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 50 })
  assert.equal((await loadCard(url, token, { id: card.id, usd: 38 })).status, 200)
  const refused = await loadCard(url, token, { id: card.id, usd: 120 })
  const { id, expires_at } = approvalIn(refused)
  assert.equal(refused.body['approval'].url, `${url}/approvals/${id}`)
  const [approval] = await listApprovals(url, holder.bearer)
  assert.deepEqual([approval?.id, approval?.status], [id, 'pending'])
  assert.equal(approval?.expires_at, expires_at)
  assert.equal(
    approval?.summary,
    `Shopper wants to load $120.00 onto Groceries ·· ${card.last4}; ` +
      "the app's daily budget is $50.00, and $12.00 is left.",
  )
  assert.match(refused.body['message'], /must approve this call \(\$12\.00 of the budget is left\)/)
  const balance = await send(url, 'GET', '/v1/balance', { bearer: holder.key })
  assert.equal(balance.body['balance_usd'], 962)
})

test('a name that an app gives a card cannot change how its request reads', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 5 })
  const name = `\u202eGifts\n\n${'x'.repeat(80)}`
  const renamed = await send(url, 'PATCH', `/v1/cards/${card.id}`, {
    bearer: token,
    body: { name },
  })
  assert.equal(renamed.status, 200, renamed.text)
  const body = { type: 'virtual', load_usd: 20, name }
  approvalIn(await loadCard(url, token, { id: card.id, usd: 20 }))
  approvalIn(await send(url, 'POST', '/v1/cards', { bearer: token, body }))
  const shown = `Gifts ${'x'.repeat(53)}…`
  const [issue, load] = await listApprovals(url, holder.bearer)
  assert.match(
    load?.summary ?? '',
    new RegExp(`^Shopper .* \\$20\\.00 onto ${shown} ·· ${card.last4}; `),
  )
  assert.match(
    issue?.summary ?? '',
    new RegExp(`^Shopper .* virtual card, ${shown}, with \\$20\\.00; `),
  )
})

test('a call above ask_above_usd is refused, whatever is left', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 50, ask_above_usd: 10 })
  const refused = await loadCard(url, token, { id: card.id, usd: 10.01 })
  approvalIn(refused)
  const [approval] = await listApprovals(url, holder.bearer)
  assert.match(approval?.summary ?? '', /; the app must ask above \$10\.00\.$/)
  assert.match(refused.body['message'], /must approve this call \(it is above \$10\.00\)/)
  assert.equal((await loadCard(url, token, { id: card.id, usd: 10 })).status, 200)
})

test('a call above ask_above_usd that would also pass the budget names the budget', async () => {
  const { card, token } = await openAgent({ amount_usd: 50, ask_above_usd: 10 })
  const refused = await loadCard(url, token, { id: card.id, usd: 60 })
  assert.match(refused.body['message'], /\(\$50\.00 of the budget is left\)/)
})

test('an unload gives back what the app loaded onto that card, and nothing of the owner', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 50 })
  assert.equal((await loadCard(url, holder.key, { id: card.id, usd: 100 })).status, 200)
  assert.equal((await unloadCard(url, token, { id: card.id, usd: 5 })).status, 200)
  assert.equal((await budgetOf(url, token)).used_usd, 0)
  assert.equal((await loadCard(url, token, { id: card.id, usd: 30 })).status, 200)
  assert.equal((await unloadCard(url, token, { id: card.id, usd: 12 })).status, 200)
  assert.equal((await budgetOf(url, token)).used_usd, 18)
  assert.equal((await unloadCard(url, token, { id: card.id, usd: 100 })).status, 200)
  assert.equal((await budgetOf(url, token)).used_usd, 0)

  const other = await issueCard(url, holder.key, { load_usd: 60 })
  assert.equal((await loadCard(url, token, { id: card.id, usd: 50 })).status, 200)
  assert.equal((await unloadCard(url, token, { id: other.id, usd: 50 })).status, 200)
  assert.equal((await budgetOf(url, token)).used_usd, 50)
})

test('an approval lets the same call pass once, with any Idempotency-Key', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 20 })
  const call = (key: string) =>
    callCard(
      url,
      { id: card.id, verb: 'load' },
      {
        bearer: token,
        body: { amount_usd: 120 },
        headers: { 'idempotency-key': key },
      },
    )
  const { id } = approvalIn(await call('one'))
  assert.equal((await decide(url, holder.bearer, { id })).status, 200)
  assert.equal((await call('one')).status, 200, 'a refusal is not stored under its key')
  assert.equal((await call('one')).headers.get('idempotent-replayed'), 'true')
  assert.equal((await budgetOf(url, token)).used_usd, 120)
  const [used] = await listApprovals(url, holder.bearer)
  assert.equal(used?.status, 'used')
  assert.notEqual(approvalIn(await call('two')).id, id)
})

test('an approved call that fails keeps its approval', async () => {
  const { holder, card, token } = await openAgent({ amount_usd: 20 }, 50)
  const call = () => loadCard(url, token, { id: card.id, usd: 60 })
  const { id } = approvalIn(await call())
  await decide(url, holder.bearer, { id })
  assert.equal((await call()).body['error'], 'insufficient_balance')
  const [approved] = await listApprovals(url, token)
  assert.deepEqual([approved?.id, approved?.status], [id, 'approved'])
})

test('a changed input, operation or grant cannot use the approval', async () => {
  const { holder, card, agent, token } = await openAgent({ amount_usd: 20 })
  const { id } = approvalIn(await loadCard(url, token, { id: card.id, usd: 60 }))
  await decide(url, holder.bearer, { id })
  for (const usd of [59, 60.01, 100]) {
    approvalIn(await loadCard(url, token, { id: card.id, usd }))
  }
  const other = await issueCard(url, holder.key)
  approvalIn(await loadCard(url, token, { id: other.id, usd: 60 }))
  const details = [{ type: 'card_access', identifier: card.id }]
  const second = await grantBudget(url, holder, null, { agent, authorization_details: details })
  approvalIn(await loadCard(url, second.token, { id: card.id, usd: 60 }))
  const stranger = await grantBudget(url, holder, { amount_usd: 20 })
  approvalIn(await loadCard(url, stranger.token, { id: card.id, usd: 60 }))
  assert.equal((await loadCard(url, token, { id: card.id, usd: 60 })).status, 200)
})
