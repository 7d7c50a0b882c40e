import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, refresh, registerAgent, startAgentService } from '#test/support/agent.ts'
import { auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { openAccount } from '#test/support/people.ts'

const { url } = await startAgentService()
const person = await openAccount(url)

const isLive = async (token: string) =>
  (await rpc(url, 'ping', {}, { bearer: token })).status === 200

test('revoking a refresh token or the grant ends every token immediately', async () => {
  const revoke = (agent: Awaited<ReturnType<typeof registerAgent>>, token: string) =>
    fetch(`${url}/oauth/revoke`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${agent.client.client_id}:${agent.client['client_secret']}`)}`,
      },
      body: new URLSearchParams({ token }),
    })
  const agent = await registerAgent(url)
  const by_client = await authorize(agent, person)
  assert(await isLive(by_client.access_token))
  assert.equal((await revoke(agent, by_client.refresh_token)).status, 200)
  const revoked = await rpc(url, 'ping', {}, { bearer: by_client.access_token })
  assert.deepEqual([revoked.status, revoked.body['error']], [401, 'token_revoked'])

  const by_owner = await authorize(agent, person)
  assert(await isLive(by_owner.access_token))
  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: person.bearer })
  const grants = body['data'] as unknown as { id: string; client_id: string; status: string }[]
  const own = grants.filter(({ client_id }) => client_id === agent.client.client_id)
  assert.deepEqual(
    own.map(({ status }) => status),
    ['active', 'revoked'],
  )
  const path = `/oauth/grants/${own[0]?.id}`
  const stranger = await openAccount(url)
  assert.equal((await send(url, 'DELETE', path, { bearer: stranger.bearer })).status, 404)
  assert.equal((await send(url, 'DELETE', path, { bearer: by_owner.access_token })).status, 401)
  assert.equal((await send(url, 'DELETE', path, { bearer: person.bearer })).status, 204)
  const ended = await rpc(url, 'ping', {}, { bearer: by_owner.access_token })
  assert.equal(ended.status, 401)
  assert.equal(ended.body['error'], 'token_revoked')
  await assert.rejects(refresh(agent, by_owner.refresh_token), { error: 'invalid_grant' })
  const entries = await auditLog(url, person.bearer, '&action=oauth.revoked')
  assert(entries.some(({ resource }) => resource?.id === own[0]?.id))
  const actor = entries.find(({ resource }) => resource?.id === own[1]?.id)?.actor
  assert.deepEqual([actor?.type, actor?.id], ['oauth_client', agent.client.client_id])
})

test('a token revoked on its own is reported as token_revoked; revoking it again succeeds', async () => {
  const agent = await registerAgent(url)
  const { access_token } = await authorize(agent, person)
  const revoke = () =>
    fetch(`${url}/oauth/revoke`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${agent.client.client_id}:${agent.client['client_secret']}`)}`,
      },
      body: new URLSearchParams({ token: access_token }),
    })
  for (const time of ['once', 'again']) {
    assert.equal((await revoke()).status, 200, time)
    const reply = await rpc(url, 'ping', {}, { bearer: access_token })
    assert.deepEqual([reply.status, reply.body['error']], [401, 'token_revoked'], time)
  }
})

test('REST reports a missing scope in the WWW-Authenticate header too', async () => {
  const options = { scope: 'system:read', resource: `${url}/v1` }
  const { access_token } = await authorize(await registerAgent(url), person, options)
  const reply = await send(url, 'GET', '/v1/cards', { bearer: access_token })
  assert.deepEqual([reply.status, reply.body['error']], [403, 'insufficient_scope'])
  const header = reply.headers.get('www-authenticate') ?? ''
  assert.match(header, /^Bearer error="insufficient_scope", resource_metadata="[^"]+\/v1"$/)
})

test('a client that deletes its registration loses its tokens and webhooks in every account', async () => {
  const agent = await registerAgent(url)
  const others = await openAccount(url)
  const owned = await authorize(agent, person, { scope: 'webhook:write', resource: `${url}/v1` })
  const { access_token } = await authorize(agent, others)
  const hook = { url: 'http://127.0.0.1:3999/agent', events: ['*'] }
  const created = await send(url, 'POST', '/v1/webhooks', {
    bearer: owned.access_token,
    body: hook,
  })
  assert.equal(created.status, 201, created.text)

  const { registration_client_uri, registration_access_token } = agent.client
  const deleted = await fetch(String(registration_client_uri), {
    method: 'DELETE',
    headers: { authorization: `Bearer ${registration_access_token}` },
  })
  assert.equal(deleted.status, 204)

  const ended = await rpc(url, 'ping', {}, { bearer: access_token })
  assert.deepEqual([ended.status, ended.body['error']], [401, 'token_revoked'])
  const { body } = await send(url, 'GET', '/oauth/grants', { bearer: person.bearer })
  const grants = body['data'] as unknown as { client_id: string; status: string }[]
  const grant = grants.find(({ client_id }) => client_id === agent.client.client_id)
  assert.equal(grant?.status, 'revoked')
  const webhooks = await send(url, 'GET', '/v1/webhooks', { bearer: person.bearer })
  const [webhook] = webhooks.body['data'] as unknown as Record<string, unknown>[]
  assert.deepEqual(
    [webhook?.['id'], webhook?.['status'], webhook?.['disabled_reason']],
    [created.body['id'], 'disabled', 'grant_ended'],
  )
  const [entry] = await auditLog(url, others.bearer, '&action=oauth.revoked')
  assert.deepEqual([entry?.actor.type, entry?.actor.id], ['oauth_client', agent.client.client_id])
})
