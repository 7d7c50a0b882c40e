import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'

const { first, second } = await startTwoNodes()
const { url } = first

const signOut = (bearer: string, at = url) => send(at, 'DELETE', '/v1/sessions', { bearer })
const getAccount = (bearer: string, at = url) => send(at, 'GET', '/v1/accounts/me', { bearer })

test('the bearer stops working immediately; other bearers keep working', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const body = { email: person.email, password: PASSWORD }
  const other = (await send(url, 'POST', '/v1/sessions', { body })).body
  const reply = await signOut(person.bearer)
  assert.equal(reply.status, 204)
  assert.equal(reply.text, '')
  assert.match(String(reply.headers.get('request-id')), /^req_/)

  const dead = await getAccount(person.bearer)
  assertRefused(dead, 401, 'token_revoked')
  assert.match(String(dead.headers.get('www-authenticate')), /^Bearer\b/)
  assertRefused(await signOut(person.bearer), 401, 'token_revoked')
  assert.equal((await getAccount(other['bearer'])).status, 200)
  assert.equal((await getAccount(key)).status, 200)
})

test('the audit log names the ended session and the actor', async () => {
  const person = await openAccount(url)
  const body = { email: person.email, password: PASSWORD }
  const other = (await send(url, 'POST', '/v1/sessions', { body })).body
  await signOut(other['bearer'])
  const [entry, ...rest] = await auditLog(url, person.bearer, '&action=session.ended')
  assert.deepEqual(rest, [])
  assert.equal(entry?.operation, 'sign_out')
  assert.deepEqual(entry?.actor, { type: 'session', id: other['session_id'], name: null })
  assert.deepEqual(entry?.resource, { type: 'session', id: other['session_id'] })
})

test('an API key has no session to end', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  assertRefused(await signOut(key), 403, 'credential_not_allowed')
  assert.equal((await getAccount(person.bearer)).status, 200)
})

test('a concurrent call does not keep the bearer alive', async () => {
  const { bearer } = await openAccount(url)
  const calls = Array.from({ length: 10 }, () => getAccount(bearer))
  await signOut(bearer)
  await Promise.all(calls)
  assertRefused(await getAccount(bearer), 401, 'token_revoked')
})

test('another node refuses the bearer within a second', async () => {
  const { bearer } = await openAccount(url)
  assert.equal((await getAccount(bearer, second.url)).status, 200)
  await signOut(bearer)
  const refused = async () => (await getAccount(bearer, second.url)).status === 401
  assert(await eventually(refused, { within_ms: 1_000 }))
  assertRefused(await getAccount(bearer, second.url), 401, 'token_revoked')
})
