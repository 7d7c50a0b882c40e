import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revokeGrantById } from '#main/grants.ts'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { operate } from '#test/support/operator.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { authorize as buy, openSpender } from '#test/support/spending.ts'
import { makeEvent, subscribe, webhookOf } from '#test/support/webhooks.ts'

const service = await startAgentService()
const { url, runtime } = service
const SCOPES = ['webhook:write', 'card:control']
const CHALLENGE = 'three_ds.challenge'

/** An agent whose token may subscribe, for REST. */
async function openAgent(scopes = SCOPES) {
  const owner = await openSpender(service, { usd: 100 })
  const agent = await registerAgent(url)
  const asking = { scope: SCOPES.join(' '), scopes, resource: `${url}/v1` }
  const { access_token } = await authorize(agent, owner, asking)
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: owner.bearer })
  return {
    owner,
    agent,
    asking,
    token: access_token,
    grant_id: grants.body['data'][0].id as string,
  }
}

const endings: Record<string, (agent: Awaited<ReturnType<typeof openAgent>>) => Promise<unknown>> =
  {
    'its owner revokes it': ({ owner, grant_id }) =>
      send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: owner.bearer }),
    'an operator revokes it': ({ grant_id }) => operate(url, 'POST', `/grants/${grant_id}/revoke`),
    'the command line revokes it': ({ grant_id }) => revokeGrantById(runtime.db, grant_id),
    'its owner takes webhook:write back': ({ owner, agent, asking }) =>
      authorize(agent, owner, { ...asking, scopes: ['card:control'] }),
    'its owner removes webhook:write in the panel': ({ owner, grant_id }) =>
      send(url, 'DELETE', `/oauth/grants/${grant_id}/scopes/webhook:write`, {
        bearer: owner.bearer,
      }),
  }

for (const [ending, end] of Object.entries(endings)) {
  test(`an agent’s webhooks end with its grant: ${ending}`, async () => {
    const agent = await openAgent()
    const { owner, token } = agent
    const [theirs, owners] = [await startReceiver(), await startReceiver()]
    const { id } = await subscribe(url, { bearer: token }, { url: theirs.url })
    const kept = await subscribe(url, owner, { url: owners.url })
    await makeEvent(url, owner)
    await theirs.waitFor(1)
    await end(agent)
    const received = theirs.received.length
    await makeEvent(url, owner)
    await owners.waitFor(2)
    assert.equal(theirs.received.length, received, 'it hears nothing more')
    const ended = await webhookOf(url, owner.key, id)
    assert.deepEqual([ended.status, ended.disabled_reason], ['disabled', 'grant_ended'])
    assert.equal((await webhookOf(url, owner.key, kept.id)).status, 'enabled')
    const entries = await auditLog(url, owner.bearer, '&action=webhook.disabled')
    assert.deepEqual(
      entries.map(({ resource }) => resource?.id),
      [id],
    )
  })
}

test('a revoked agent cannot approve a purchase, not even one it was asked about before', async () => {
  const { owner, token, grant_id } = await openAgent()
  const receiver = await startReceiver()
  receiver.respond = respondWith(202)
  await subscribe(url, { bearer: token }, { url: receiver.url, events: [CHALLENGE] })
  const purchase = buy(url, owner, { amount: 20, three_ds: true })
  const [received] = await receiver.waitFor(1)
  const { challenge_id, response_url } = received?.event.data.object ?? {}
  await send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: owner.bearer })
  const body = { challenge_id, decision: 'approve' }
  const late = await send(String(response_url), 'POST', '', { body })
  assertRefused(late, 410, 'challenge_expired')
  assert.equal((await purchase).type, 'decline')
  const next = await buy(url, owner, { amount: 20, three_ds: true })
  assert.equal(next.decline_code, 'three_ds_timeout')
  assert.equal(receiver.received.length, 1)
})

test('a token needs card:control to receive 3-D Secure challenges', async () => {
  const { owner, agent, asking, token } = await openAgent()
  const weak = await openAgent(['webhook:write'])
  const body = { url: 'http://127.0.0.1:3999/hook', events: [CHALLENGE] }
  const create = (bearer: string) => send(url, 'POST', '/v1/webhooks', { bearer, body })
  const refused = await create(weak.token)
  assertRefused(refused, 403, 'insufficient_scope')
  assert.match(refused.text, /card:control/)
  const plain = await subscribe(url, { bearer: weak.token }, { url: body.url })
  const patched = await send(url, 'PATCH', `/v1/webhooks/${plain.id}`, {
    bearer: weak.token,
    body: { events: ['*', CHALLENGE] },
  })
  assertRefused(patched, 403, 'insufficient_scope')
  const mcp = await openAgent(['webhook:write'])
  const { access_token } = await authorize(mcp.agent, mcp.owner, {
    scope: 'webhook:write',
    scopes: ['webhook:write'],
  })
  const params = { name: 'create_webhook', arguments: body }
  assert.equal((await rpc(url, 'tools/call', params, { bearer: access_token })).status, 403)

  const receiver = await startReceiver()
  await subscribe(url, { bearer: token }, { url: receiver.url, events: [CHALLENGE] })
  await authorize(agent, owner, { ...asking, scopes: ['webhook:write'] })
  const paid = await buy(url, owner, { amount: 20, three_ds: true })
  assert.equal(paid.decline_code, 'three_ds_timeout', 'card:control was taken back')
  assert.equal(receiver.received.length, 0)
})

test('a token sees and changes only the webhooks of its own grant', async () => {
  const { owner, token } = await openAgent()
  const { id } = await subscribe(url, owner, { url: 'http://127.0.0.1:3999/owner' })
  const listed = await send(url, 'GET', '/v1/webhooks', { bearer: token })
  assert.deepEqual(listed.body['data'], [])
  const moved = { url: 'http://127.0.0.1:3999/thief' }
  const path = `/v1/webhooks/${id}`
  assertRefused(await send(url, 'PATCH', path, { bearer: token, body: moved }), 404, 'not_found')
  assertRefused(await send(url, 'DELETE', path, { bearer: token }), 404, 'not_found')
  assert.equal((await webhookOf(url, owner.key, id)).url, 'http://127.0.0.1:3999/owner')
})

test('no webhook stays enabled if it is created while its grant is revoked', async () => {
  const { owner, token, grant_id } = await openAgent()
  const create = () =>
    send(url, 'POST', '/v1/webhooks', {
      bearer: token,
      body: { url: 'http://127.0.0.1:3999/hook', events: ['*'] },
    })
  const revoke = () => send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: owner.bearer })
  await Promise.all([create(), create(), revoke(), create(), create()])
  const [row] = await runtime.db.rows<{ enabled: bigint }>(
    `select count(*) as enabled from webhooks where account_id = $1 and status = 'enabled'`,
    [owner.account_id],
  )
  assert.equal(row?.enabled, 0n)
})

test('a webhook of a revoked grant that the owner enables again belongs to the account', async () => {
  const { owner, token, grant_id } = await openAgent()
  const { id } = await subscribe(url, { bearer: token }, { url: 'http://127.0.0.1:3999/hook' })
  await send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: owner.bearer })
  const body = { status: 'enabled' }
  const on = await send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer: owner.bearer, body })
  assert.deepEqual([on.body['status'], on.body['disabled_reason']], ['enabled', null])
})
