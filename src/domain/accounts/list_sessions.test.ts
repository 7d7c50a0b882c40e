import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActiveSession } from '#contract/sessions.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1' } })
const { url, tasks } = service

const list = async (bearer: string, query = ''): Promise<ActiveSession[]> => {
  const reply = await send(url, 'GET', `/v1/sessions${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data']
}
const signIn = async ({ email }: Person, headers: Record<string, string> = {}) => {
  const body = { email, password: PASSWORD }
  const reply = await send(url, 'POST', '/v1/sessions', { body, headers })
  return { bearer: String(reply.body['bearer']), id: String(reply.body['session_id']) }
}

test('sessions are listed newest first with origin and times, and the caller’s is marked', async () => {
  const person = await openAccount(url)
  const second = await signIn(person, {
    'user-agent': 'Lynx/2.9',
    'x-forwarded-for': '198.51.100.9',
  })
  const [newest, oldest, ...rest] = await list(second.bearer)
  assert.deepEqual(rest, [])
  assert(newest !== undefined && oldest !== undefined)
  assert.deepEqual(
    [newest.id, newest.current, newest.ip, newest.user_agent],
    [second.id, true, '198.51.100.9', 'Lynx/2.9'],
  )
  assert.equal(oldest.current, false)
  const lifetime_ms = Date.parse(newest.expires_at) - Date.parse(newest.created_at)
  assert.equal(lifetime_ms, 30 * 86_400_000)
  const names = 'id current ip user_agent created_at last_used_at expires_at'
  assert.equal(Object.keys(newest).join(' '), names)
})

test('an API key sees the same sessions, none of them current', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const sessions = await list(key)
  assert.deepEqual(
    sessions.map(({ current }) => current),
    [false],
  )
})

test('last_used_at is the last call, and the sign-in before the first one', async () => {
  const person = await openAccount(url)
  const unused = await signIn(person)
  await advance(url, person.bearer, 3_600)
  await send(url, 'GET', '/v1/accounts/me', person)
  await tasks.run(['touch_keys'])
  const sessions = await list(person.bearer)
  const used = sessions.find(({ current }) => current)
  const other = sessions.find(({ id }) => id === unused.id)
  assert(used !== undefined && other !== undefined)
  assert.ok(Date.parse(used.last_used_at) - Date.parse(used.created_at) >= 3_600_000)
  assert.equal(other.last_used_at, other.created_at)
})

test('sessions that ended or expired are not listed', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const second = await signIn(person)
  await send(url, 'DELETE', '/v1/sessions', second)
  assert.equal((await list(key)).length, 1)
  await advance(url, key, 30 * 86_400)
  assert.deepEqual(await list(key), [])
})

test('one account does not see the sessions of another', async () => {
  const [ada, bob] = [await openAccount(url), await openAccount(url)]
  const [of_ada, of_bob] = [await list(ada.bearer), await list(bob.bearer)]
  assert.deepEqual([of_ada.length, of_bob.length], [1, 1])
  assert.notEqual(of_ada[0]?.id, of_bob[0]?.id)
})

test('sessions are paged', async () => {
  const person = await openAccount(url)
  const ids = [(await list(person.bearer))[0]?.id]
  for (let at = 0; at < 4; at += 1) ids.push((await signIn(person)).id)
  const first = await send(url, 'GET', '/v1/sessions?limit=3&order=asc', person)
  assert.equal(first.body['has_more'], true)
  const query = `?limit=3&order=asc&cursor=${first.body['next_cursor']}`
  const rows: ActiveSession[] = [...first.body['data'], ...(await list(person.bearer, query))]
  assert.deepEqual(
    rows.map(({ id }) => id),
    ids,
  )
  const refused = await send(url, 'GET', '/v1/sessions?status=open', person)
  assertRefused(refused, 400, 'unknown_parameter')
})
