import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval } from '#contract/approvals.ts'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { approvalIn, decide, grantBudget, loadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { callTool, initialize, rpc } from '#test/support/mcp.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { subscribe } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url } = service

async function openToolAgent() {
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key, { name: 'Groceries' })
  const agent = await registerAgent(url, { client_name: 'Shopper' })
  const scopes = ['card:control', 'card:read', 'system:read']
  const { access_token, body } = await authorize(agent, holder, {
    scope: scopes.join(' '),
    scopes,
    authorization_details: [{ type: 'spend_budget', amount_usd: 20, period: 'day' }],
  })
  return { holder, card, token: access_token, body }
}

test('the token response says which budget was granted', async () => {
  const { body } = await openToolAgent()
  assert.deepEqual((body as { authorization_details?: object }).authorization_details, [
    { type: 'spend_budget', amount_usd: 20, period: 'day' },
  ])
})

test('as a tool, a call beyond the budget fails with the body of REST', async () => {
  const { holder, card, token } = await openToolAgent()
  const load = () => callTool(url, 'load_card', { id: card.id, amount_usd: 60 }, token)
  const refused = await load()
  assert.equal(refused.isError, true)
  const { error, approval } = refused.structuredContent as never as {
    error: string
    approval: { id: string; url: string }
  }
  assert.equal(error, 'approval_required')
  assert.equal(approval.url, `${url}/approvals/${approval.id}`)
  const listed = await callTool(url, 'list_approvals', {}, token)
  const [own] = listed.structuredContent['data'] as Approval[]
  assert.equal(own?.id, approval.id)
  await decide(url, holder.bearer, { id: approval.id })
  assert.equal((await load()).isError, undefined)
})

test('a client of 2025-11-25 that declares URL elicitation gets the page to open', async () => {
  const { card, token } = await openToolAgent()
  const call = { name: 'load_card', arguments: { id: card.id, amount_usd: 60 } }
  const load = (headers: Record<string, string>) =>
    rpc(url, 'tools/call', call, { bearer: token, headers })
  const able = await initialize(url, token, '2025-11-25', { elicitation: { form: {}, url: {} } })
  const reply = await load(able)
  assert.equal(reply.status, 200)
  const { code, message, data } = reply.body['error']
  assert.equal(code, -32_042)
  assert.equal(data.error, 'approval_required')
  assert.deepEqual(data.elicitations, [
    { mode: 'url', elicitationId: data.approval.id, url: data.approval.url, message },
  ])
  const progress = { ...call, _meta: { progressToken: 'p' } }
  const streamed = await rpc(url, 'tools/call', progress, { bearer: token, headers: able })
  assert.match(streamed.text, /"code":-32042/)

  for (const [version, capabilities] of [
    ['2025-11-25', {}],
    ['2025-11-25', { elicitation: {} }],
    ['2025-11-25', { elicitation: { form: {} } }],
    ['2025-06-18', { elicitation: { url: {} } }],
  ] as const) {
    const unable = await load(await initialize(url, token, version, capabilities))
    assert.equal(unable.body['error'], undefined, unable.text)
    assert.equal(unable.body['result'].structuredContent.approval.id, data.approval.id)
  }
})

test('the owner gets an email and, in the activity stream, a row; other apps see neither', async () => {
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key, { name: 'Groceries' })
  const { token } = await grantBudget(url, holder, { amount_usd: 50 })
  const { id } = approvalIn(await loadCard(url, token, { id: card.id, usd: 120 }))
  const isMailed = async () => {
    const { text } = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: holder.bearer })
    const summary = `Shopper wants to load $120.00 onto Groceries ·· ${card.last4}`
    return text.includes(summary) && text.includes(`/approvals/${id}`)
  }
  assert(await eventually(isMailed, { within_ms: 20_000 }))
  const activity = await send(url, 'GET', '/v1/activity?event=approval.requested', {
    bearer: holder.bearer,
  })
  const [row] = activity.body['data']
  assert.deepEqual(row.resource, { type: 'approval', id })
  assert.equal(row.sequence, null)
  const seen = await send(url, 'GET', '/v1/activity?event=approval.requested', { bearer: token })
  assert.deepEqual(seen.body['data'], [])
})

test('webhooks get approval events if they name them; "*" stays the 18', async () => {
  const receiver = await startReceiver()
  const others = await startReceiver()
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key)
  const events = ['approval.requested', 'approval.decided']
  await subscribe(url, holder, { url: receiver.url, events })
  await subscribe(url, holder, { url: others.url, events: ['*'] })
  const { token } = await grantBudget(url, holder, { amount_usd: 50 })
  const { id } = approvalIn(await loadCard(url, token, { id: card.id, usd: 60 }))
  await decide(url, holder.bearer, { id })
  await loadCard(url, token, { id: card.id, usd: 60 })
  await receiver.waitFor(2)
  await others.waitFor(2)
  assert.deepEqual(receiver.types().toSorted(), events.toSorted())
  const requested = receiver.received.find(({ event }) => event.type === 'approval.requested')
  assert.ok(requested !== undefined)
  const { sequence, data } = requested.event as never as {
    sequence: null
    data: { object: Approval }
  }
  assert.equal(sequence, null)
  assert.deepEqual([data.object.id, data.object.status], [id, 'pending'])
  assert.deepEqual(others.types().toSorted(), ['account.signed_in', 'card.loaded'])
})
