import assert from 'node:assert/strict'
import { test } from 'node:test'
import { card_policies } from '#contract/card_policies.ts'
import type { OperationName } from '#contract/operations.ts'
import { scope_names } from '#contract/scopes.ts'
import {
  allow,
  authorize,
  exchange,
  openConsent,
  refresh,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser, boxesIn } from '#test/support/browser.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { type Buyer, fileDispute, getDispute } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { callTool, rpc } from '#test/support/mcp.ts'
import { authorize as buy, follow } from '#test/support/spending.ts'
import { subscribe } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service, 200)
const mine = await issueCard(url, holder.key, { name: 'Agent card' })
const other = await issueCard(url, holder.key)
const agent = await registerAgent(url)

const ALL = { scope: scope_names.join(' '), scopes: [...scope_names] }
const detail = (identifier: string, actions?: string[]) => ({
  type: 'card_access',
  identifier,
  ...(actions !== undefined && { actions }),
})

const errorOf = async (name: string, input: object, bearer: string) =>
  (await callTool(url, name, input, bearer)).structuredContent['error']

test('a token for one card sees that card, and gets not_found for the others', async () => {
  const asking = { ...ALL, authorization_details: [detail(mine.id)] }
  const { access_token, body } = await authorize(agent, holder, asking)
  assert.deepEqual((body as { authorization_details?: object }).authorization_details, [
    detail(mine.id, ['read', 'control', 'reveal_pan', 'transactions']),
  ])
  const cards = await callTool(url, 'list_cards', {}, access_token)
  const listed = cards.structuredContent['data'] as { id: string }[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [mine.id],
  )
  const card = await callTool(url, 'get_card', { id: mine.id }, access_token)
  assert.equal(card.structuredContent['id'], mine.id)
  const limits = { id: mine.id, daily_usd: 20 }
  const limited = await callTool(url, 'set_card_limits', limits, access_token)
  assert.equal(limited.isError, undefined, limited.content[0]?.text)

  for (const [name, policy] of Object.entries(card_policies)) {
    if (typeof policy === 'string' || !('card' in policy)) continue
    const input = { id: other.id, ...(name === 'load_card' && { amount_usd: 1 }) }
    const refused = await callTool(url, name, input, access_token)
    assert.equal(refused.structuredContent['error'], 'not_found', name)
    assert.equal(refused.structuredContent['message'], 'No such card.', name)
  }
})

test('a token for one card sees the spending of that card only', async () => {
  const asking = { ...ALL, authorization_details: [detail(mine.id)] }
  const { access_token } = await authorize(agent, holder, asking)
  for (const [card, amount] of [
    [mine, 3],
    [other, 4],
  ] as const) {
    await callCard(
      url,
      { id: card.id, verb: 'load' },
      { bearer: holder.key, body: { amount_usd: 5 } },
    )
    const spender = { key: holder.key, card }
    const { id } = await buy(url, spender, { amount })
    await follow(url, spender, { id, verb: 'capture' })
  }
  const day = (shift: number) => new Date(Date.now() + shift).toISOString().slice(0, 10)
  const range = { from: day(-86_400_000), to: day(86_400_000), group_by: 'card' }
  const { structuredContent } = await callTool(url, 'get_spending', range, access_token)
  assert.equal(structuredContent['total_usd'], 3)
  const others = { ...range, card_id: other.id }
  assert.equal(await errorOf('get_spending', others, access_token), 'not_found')
})

test('account-wide operations return policy_denied, and tools/list does not show them', async () => {
  const { access_token } = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(mine.id)],
  })
  const inputs: Partial<Record<OperationName, object>> = {
    create_topup: { amount_usd: 10 },
    cancel_topup: { id: 'tup_01kc3z8e5xf8m9r4t2v6w7y8za' },
    issue_card: { type: 'virtual' },
    withdraw: { amount_usd: 10, address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
    get_balance_history: {},
    list_statements: {},
    list_webhooks: {},
    create_webhook: { url: 'https://hooks.example/x', events: ['*'] },
    delete_webhook: { id: 'wh_01kc3z8e5xf8m9r4t2v6w7y8za' },
    replay_webhook: { id: 'wh_01kc3z8e5xf8m9r4t2v6w7y8za', eid: 'evt_01kc3z8e5xf8m9r4t2v6w7y8za' },
  }
  const { body } = await rpc(url, 'tools/list', {}, { bearer: access_token })
  const { tools } = body['result'] as unknown as { tools: { name: string }[] }
  for (const [name, input] of Object.entries(inputs)) {
    assert.equal(await errorOf(name, input, access_token), 'policy_denied', name)
    assert.equal(
      tools.some((tool) => tool.name === name),
      false,
      name,
    )
  }
})

test('actions narrow the scopes', async () => {
  const { access_token } = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(mine.id, ['read'])],
  })
  assert.equal((await callTool(url, 'get_card', { id: mine.id }, access_token)).isError, undefined)
  for (const name of ['freeze_card', 'reveal_pan', 'list_card_transactions']) {
    const params = { name, arguments: { id: mine.id } }
    assert.equal((await rpc(url, 'tools/call', params, { bearer: access_token })).status, 403, name)
  }
})

test('the owner can restrict an agent to cards even if it requested none', async () => {
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: 'card:read card:control' })
  const page = await openConsent(browser, attempt.url, holder)
  assert.deepEqual(Object.keys(boxesIn(page.text, 'card')).sort(), [mine.id, other.id].sort())
  const none = await browser.submit(page, 'allow', { scope: ['card:read'], cards: 'some' })
  assert.match(none.text, /Select at least one card/)
  const callback = await allow(browser, none, { scopes: ['card:read'], cards: [mine.id] })
  const { access_token } = await exchange(agent, attempt, callback)
  const caller = await service.runtime.credentials.callerOf(access_token, 'mcp')
  assert.deepEqual(caller.card_ids, [mine.id])
})

test('consents for some cards and for all cards do not change each other', async () => {
  const fresh = await registerAgent(url)
  const wide = await authorize(fresh, holder, { scope: 'card:read' })
  const narrow = await authorize(fresh, holder, {
    scope: 'card:read card:reveal_pan',
    scopes: ['card:read', 'card:reveal_pan'],
    authorization_details: [detail(mine.id)],
  })
  const { callerOf } = service.runtime.credentials
  assert.equal((await callerOf(wide.access_token, 'mcp')).card_ids, null)
  assert.equal((await callerOf(wide.access_token, 'mcp')).scopes.has('card:reveal_pan'), false)
  assert.deepEqual((await callerOf(narrow.access_token, 'mcp')).card_ids, [mine.id])
})

test('malformed details, unknown types and cards of other accounts are refused', async () => {
  for (const details of [
    [{ type: 'payment', identifier: mine.id }],
    [detail('card_nonsense')],
    [detail(mine.id, ['steal'])],
    [{ ...detail(mine.id), limit: 5 }],
  ]) {
    const attempt = await startAuthorization(agent, { authorization_details: details })
    const { url: at } = await new Browser(url).open(attempt.url)
    assert.equal(new URL(at).searchParams.get('error'), 'invalid_authorization_details')
  }
  const stranger = await openHolder(service)
  const foreign = await issueCard(url, stranger.key)
  const attempt = await startAuthorization(agent, { authorization_details: [detail(foreign.id)] })
  const browser = new Browser(url)
  const page = await openConsent(browser, attempt.url, holder)
  assert.deepEqual(boxesIn(page.text, 'card'), {})
  assert.match(page.text, /This app asks for cards that are canceled or not in this account/)
  const tried = await browser.submit(page, 'allow', { scope: ['card:read'], card: [foreign.id] })
  assert.equal(tried.status, 400)
  assert.match(tried.text, /role="alert">This app asks for cards that are canceled or not in/)
})

test('after replace_card the token covers the new card, immediately and after a refresh', async () => {
  const card = await issueCard(url, holder.key)
  const tokens = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(card.id)],
  })
  assert.equal(
    (await callTool(url, 'get_card', { id: card.id }, tokens.access_token)).isError,
    undefined,
  )
  const replaced = await callCard(url, { id: card.id, verb: 'replace' }, { bearer: holder.key })
  assert.equal(replaced.status, 200, replaced.text)
  const next = String(replaced.body['id'])
  const seen = await callTool(url, 'get_card', { id: next }, tokens.access_token)
  assert.equal(seen.structuredContent['id'], next)
  assert.equal(await errorOf('get_card', { id: card.id }, tokens.access_token), 'not_found')
  const { access_token, body } = await refresh(agent, tokens.refresh_token)
  assert.equal((await callTool(url, 'get_card', { id: next }, access_token)).isError, undefined)
  const details = (body as { authorization_details: { identifier: string }[] })
    .authorization_details
  assert.deepEqual(
    details.map(({ identifier }) => identifier),
    [next],
  )
})

test('lists and events never show other cards, with any filter', async () => {
  const { access_token } = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(mine.id)],
  })
  await callCard(url, { id: other.id, verb: 'freeze' }, { bearer: holder.key })
  await callCard(url, { id: mine.id, verb: 'freeze' }, { bearer: holder.key })
  for (const [name, input] of [
    ['list_cards', {}],
    ['list_cards', { status: 'frozen' }],
    ['list_transactions', { card_id: other.id }],
    ['list_transactions', {}],
    ['get_activity', {}],
    ['get_activity', { card_id: other.id }],
    ['filter_activity', { type: 'card' }],
    ['list_disputes', { card_id: other.id }],
  ] as const) {
    const { structuredContent, isError } = await callTool(url, name, input, access_token)
    assert.equal(isError, undefined, JSON.stringify(structuredContent))
    assert.equal(JSON.stringify(structuredContent).includes(other.id), false, name)
  }
  const rest = await authorize(agent, holder, {
    ...ALL,
    resource: `${url}/v1`,
    authorization_details: [detail(mine.id)],
  })
  const reply = await send(url, 'GET', `/v1/cards/${other.id}`, { bearer: rest.access_token })
  assert.equal(reply.status, 404)
})

/** A captured and disputed purchase, so every table has a row. */
async function livedCard(): Promise<Buyer & { dispute_id: string; disputable_id: string }> {
  const card = await issueCard(url, holder.key, { load_usd: 20 })
  const settled = async () => {
    const held = await buy(url, { ...holder, card }, { amount: 3 })
    return follow(url, holder, { id: held.id, verb: 'capture' })
  }
  const buyer = { ...holder, card, capture: await settled() }
  const dispute = await fileDispute(url, buyer)
  return { ...buyer, dispute_id: dispute.id, disputable_id: (await settled()).id }
}

test('a token reaches purchases, disputes and webhooks of its own cards by ID, and no others', async () => {
  const [own, foreign] = [await livedCard(), await livedCard()]
  const { id: webhook_id } = await subscribe(url, holder, { url: 'http://127.0.0.1:3999/hook' })
  const { access_token } = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(own.card.id)],
  })
  const note = { kind: 'note', note: 'It never came.' }
  const claim = { reason: 'not_received', explanation: 'It never came.' }
  const calls = ({ capture, dispute_id, disputable_id }: typeof own): [string, object][] => [
    ['get_transaction', { id: capture.id }],
    ['get_auth_details', { id: capture.id }],
    ['get_dispute', { id: dispute_id }],
    ['add_dispute_evidence', { id: dispute_id, ...note }],
    ['file_dispute', { transaction_id: disputable_id, ...claim }],
  ]
  for (const [name, input] of calls(own)) {
    const result = await callTool(url, name, input, access_token)
    assert.equal(result.isError, undefined, `${name}: ${result.content[0]?.text}`)
  }
  for (const [name, input] of calls(foreign)) {
    assert.equal(await errorOf(name, input, access_token), 'not_found', name)
  }
  const disputes = await callTool(url, 'list_disputes', {}, access_token)
  const listed = disputes.structuredContent['data'] as { card_id: string }[]
  assert.deepEqual(new Set(listed.map(({ card_id }) => card_id)), new Set([own.card.id]))

  const [event] = await service.runtime.db.rows<{ id: string }>(
    'select id from events where card_id = $1 and body is not null order by id limit 1',
    [foreign.card.id],
  )
  for (const [name, input] of [
    ['list_webhooks', { expand: 'deliveries' }],
    ['update_webhook', { id: webhook_id, description: 'Mine now.' }],
    ['delete_webhook', { id: webhook_id }],
    ['replay_webhook', { id: webhook_id, eid: event?.id }],
  ] as const) {
    assert.equal(await errorOf(name, input, access_token), 'policy_denied', name)
  }
  const untouched = await getDispute(url, holder.key, foreign.dispute_id)
  assert.deepEqual(untouched.evidence, [])
})

test('its list pages are full: hidden rows are not counted', async () => {
  const [own, foreign] = [await livedCard(), await livedCard()]
  for (let turn = 0; turn < 4; turn += 1) {
    for (const buyer of [own, foreign]) await buy(url, buyer, { amount: 1 })
  }
  const { access_token } = await authorize(agent, holder, {
    ...ALL,
    authorization_details: [detail(own.card.id)],
  })
  for (const name of ['list_transactions', 'get_activity']) {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const input: object = { limit: 3, ...(cursor !== null && { cursor }) }
      const { structuredContent } = await callTool(url, name, input, access_token)
      const page = structuredContent as Page
      if (page.has_more) assert.equal(page.data.length, 3, name)
      for (const { card_id } of page.data) seen.push(card_id)
      cursor = page.next_cursor
    } while (cursor !== null)
    assert(seen.length >= 8, `${name} has ${seen.length} rows`)
    assert.deepEqual(new Set(seen), new Set([own.card.id]), name)
  }
})

type Page = { data: { card_id: string }[]; has_more: boolean; next_cursor: string | null }
