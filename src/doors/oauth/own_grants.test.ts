import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, refresh, registerAgent, startAgentService } from '#test/support/agent.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'

const { url } = await startAgentService()

async function openAgent() {
  const person = await openAccount(url)
  const agent = await registerAgent(url)
  const asking = { scope: 'card:read system:read', resource: `${url}/v1` }
  const tokens = await authorize(agent, person, asking)
  const grant = await grantOf(person.bearer)
  const remove = (scope: string, bearer = person.bearer) =>
    send(url, 'DELETE', `/oauth/grants/${grant.id}/scopes/${scope}`, { bearer })
  return { person, agent, tokens, remove }
}

async function grantOf(bearer: string) {
  const { body } = await send(url, 'GET', '/oauth/grants', { bearer })
  return body['data'][0] as { id: string; status: string; scopes: string[] }
}

test('tokens issued before and after lose a removed scope, and it is audited', async () => {
  const { person, agent, tokens, remove } = await openAgent()
  const cards = (bearer: string) => send(url, 'GET', '/v1/cards', { bearer })
  assert.equal((await cards(tokens.access_token)).status, 200)
  assert.equal((await remove('card:read')).status, 204)
  assertRefused(await cards(tokens.access_token), 403, 'insufficient_scope')
  assert.deepEqual((await grantOf(person.bearer)).scopes, ['system:read'])
  const renewed = await refresh(agent, tokens.refresh_token)
  assert.equal(renewed.scope, 'system:read')
  assertRefused(await cards(renewed.access_token), 403, 'insufficient_scope')
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer: renewed.access_token })
  assert.equal(limits.status, 200)
  const entries = await auditLog(url, person.bearer, '&action=oauth.scope_removed')
  assert.deepEqual(
    entries.map(({ actor }) => actor.type),
    ['session'],
  )
})

test('the last scope ends the grant with its tokens', async () => {
  const { person, tokens, remove } = await openAgent()
  await remove('card:read')
  assert.equal((await remove('system:read')).status, 204)
  assert.equal((await grantOf(person.bearer)).status, 'revoked')
  const reply = await send(url, 'GET', '/v1/system/limits', { bearer: tokens.access_token })
  assertRefused(reply, 401, 'token_revoked')
  assertRefused(await remove('system:read'), 404, 'not_found')
})

test('only the owner removes a scope, and only one that the grant has', async () => {
  const { tokens, remove, person } = await openAgent()
  const stranger = await openAccount(url)
  assertRefused(await remove('card:read', stranger.bearer), 404, 'not_found')
  for (const scope of ['card:issue', 'card', 'x%00', 'toString']) {
    assertRefused(await remove(scope), 404, 'not_found')
  }
  assert.notEqual((await remove('card:read', tokens.access_token)).status, 204)
  assert.deepEqual((await grantOf(person.bearer)).scopes, ['card:read', 'system:read'])
})
