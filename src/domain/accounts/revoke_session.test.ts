import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'

const { first, second } = await startTwoNodes()
const { url } = first

const revoke = (bearer: string, id: string) => send(url, 'DELETE', `/v1/sessions/${id}`, { bearer })
const getAccount = (bearer: string, at = url) => send(at, 'GET', '/v1/accounts/me', { bearer })
const signIn = async ({ email }: Person) => {
  const reply = await send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })
  return { bearer: String(reply.body['bearer']), id: String(reply.body['session_id']) }
}

test('the bearer of the session stops working immediately, on every node; others keep working', async () => {
  const person = await openAccount(url)
  const { bearer, id } = await signIn(person)
  assert.equal((await getAccount(bearer, second.url)).status, 200)
  const reply = await revoke(person.bearer, id)
  assert.deepEqual([reply.status, reply.text], [204, ''])
  assertRefused(await getAccount(bearer), 401, 'token_revoked')
  const isRefused = async () => (await getAccount(bearer, second.url)).status === 401
  assert(await eventually(isRefused, { within_ms: 10_000 }))
  assert.equal((await getAccount(person.bearer)).status, 200)
})

test('the session of the call itself can be ended', async () => {
  const { bearer, id } = await signIn(await openAccount(url))
  assert.equal((await revoke(bearer, id)).status, 204)
  assertRefused(await getAccount(bearer), 401, 'token_revoked')
})

test('an API key can end a session', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const { bearer, id } = await signIn(person)
  assert.equal((await revoke(key, id)).status, 204)
  assertRefused(await getAccount(bearer), 401, 'token_revoked')
})

test('the audit log names the ended session and who ended it', async () => {
  const person = await openAccount(url)
  const key = await createKey(url, person.bearer)
  const { id } = await signIn(person)
  await revoke(key.key, id)
  const [entry] = await auditLog(url, person.bearer, '&action=session.ended')
  assert.deepEqual(
    [entry?.operation, entry?.actor.id, entry?.resource],
    ['revoke_session', key.id, { type: 'session', id }],
  )
})

test('a session that ended or expired is not found', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const [ended, expired] = [await signIn(person), await signIn(person)]
  assert.equal((await revoke(key, ended.id)).status, 204)
  assertRefused(await revoke(key, ended.id), 404, 'not_found')
  await advance(url, key, 30 * 86_400)
  assertRefused(await revoke(key, expired.id), 404, 'not_found')
})

test('a session of another account is not found and stays signed in', async () => {
  const [ada, bob] = [await openAccount(url), await openAccount(url)]
  const { bearer, id } = await signIn(ada)
  const foreign = await revoke(bob.bearer, id)
  assertRefused(foreign, 404, 'not_found')
  const missing = await revoke(bob.bearer, 'sess_01kc3z8e5xf8m9r4t2v6w7y8za')
  assert.equal(missing.body['message'], foreign.body['message'])
  assert.equal((await getAccount(bearer)).status, 200)
})
