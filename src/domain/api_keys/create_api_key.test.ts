import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const kept = recordingLog()
let armed: Failpoint | null = null
const fail = (point: Failpoint) => {
  if (point !== armed) return
  armed = null
  throw new Error(`failed on purpose at ${point}`)
}
// No timers: a background task must not hit a failpoint that is armed for a call.
const clock = { ...systemClock(), every: () => () => undefined }
const { url, runtime } = await startTestService({ dependencies: { log: kept.log, fail, clock } })
const { db } = runtime

const create = (bearer: string, sent: RequestOptions = {}): Promise<Reply> =>
  send(url, 'POST', '/v1/api_keys', { bearer, body: {}, ...sent })

const countOf = async (account_id: string) =>
  (await db.rows('select 1 from api_keys where account_id = $1', [account_id])).length

test('the key is returned once, by the call that creates it, and works', async () => {
  const person = await openAccount(url)
  const { status, body } = await create(person.bearer, { body: { name: 'Bookkeeping' } })
  assert.equal(status, 201)
  const { id, key, prefix, created_at, ...rest } = body
  assert.match(id, /^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  assert.match(key, /^flk_test_[0-9a-z]{52,}$/, 'at least 256 random bits')
  assert(String(key).startsWith(prefix))
  assert(String(prefix).length < String(key).length / 3)
  assert.match(created_at, /^\d{4}-.*\.\d{3}Z$/)
  assert.deepEqual(rest, {
    name: 'Bookkeeping',
    status: 'active',
    last_used_at: null,
    last_used_ip: null,
    revoked_at: null,
  })
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
  assert.equal(account.body['id'], person.account_id)
})

test('a name is optional and has 1 to 100 characters; keys are unique', async () => {
  const { bearer } = await openAccount(url)
  const unnamed = await send(url, 'POST', '/v1/api_keys', { bearer })
  assert.equal(unnamed.status, 201)
  assert.equal(unnamed.body['name'], null)
  const longest = await create(bearer, { body: { name: 'n'.repeat(100) } })
  assert.equal(longest.status, 201)
  assert.notEqual(longest.body['key'], unnamed.body['key'])
  for (const name of ['', 'n'.repeat(101), 7, null, 'nul\u0000l']) {
    assertRefused(await create(bearer, { body: { name } }), 400, 'invalid_request')
  }
  assertRefused(await create(bearer, { body: { scopes: [] } }), 400, 'invalid_request')
})

test('the key itself is in no table and no log line', async () => {
  const { bearer } = await openAccount(url)
  const { key } = (await create(bearer, { key: 'leak-1' })).body
  await send(url, 'GET', '/v1/accounts/me', { bearer: key })
  for (const text of [await wholeDatabase(db), kept.text()]) {
    assert(!text.includes(key))
    assert(!text.includes(bearer))
  }
})

test('a retry with the same Idempotency-Key creates no second key and shows none', async () => {
  const person = await openAccount(url)
  const first = await create(person.bearer, { key: 'once' })
  const quoted = await create(person.bearer, { key: '"once"' })
  for (const again of [quoted, await create(person.bearer, { key: 'once' })]) {
    assert.equal(again.status, 201)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, { ...first.body, key: null })
  }
  assert.equal(await countOf(person.account_id), 1)
})

test('an Idempotency-Key is bound to its account, operation and body', async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  const first = await create(ada.bearer, { key: 'shared' })
  const other = await create(bob.bearer, { key: 'shared' })
  assert.equal(other.headers.get('idempotent-replayed'), null)
  assert.notEqual(other.body['id'], first.body['id'])
  const patched = await send(url, 'PATCH', '/v1/accounts/me', {
    bearer: ada.bearer,
    key: 'shared',
    body: { notifications: { card_frozen: false } },
  })
  assert.equal(patched.headers.get('idempotent-replayed'), null)
  const body = { name: 'another' }
  assertRefused(await create(ada.bearer, { key: 'shared', body }), 422, 'idempotency_key_reused')
})

test('fifty concurrent calls with one Idempotency-Key create one key', async () => {
  const person = await openAccount(url)
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => create(person.bearer, { key: 'fifty' })),
  )
  const shown = replies.filter(({ body }) => typeof body['key'] === 'string')
  assert.equal(shown.length, 1)
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 409, 'idempotency_in_progress')
    assert(Number(reply.headers.get('retry-after')) >= 1)
  }
  assert.equal(await countOf(person.account_id), 1)
})

/** Two header lines of the same name, which fetch cannot send. */
function statusWithTwoKeys(bearer: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${bearer}`, 'idempotency-key': ['one', 'two'] }
    const sent = request(`${url}/v1/api_keys`, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
    sent.end()
  })
}

test('an Idempotency-Key has 1 to 255 visible characters and is sent once', async () => {
  const person = await openAccount(url)
  for (const key of ['', '""', 'two words', 'clé', 'x'.repeat(256), '"open']) {
    const reply = await create(person.bearer, { key })
    if (key === '"open') assert.equal(reply.status, 201)
    else assertRefused(reply, 400, 'invalid_idempotency_key')
  }
  assert.equal(await statusWithTwoKeys(person.bearer), 400)
  assert.equal((await create(person.bearer, { key: 'x'.repeat(255) })).status, 201)
  assert.equal(await countOf(person.account_id), 2)
})

for (const point of ['before_begin', 'after_handler', 'before_commit'] as const) {
  test(`an exception at ${point} stores nothing, and a retry creates the key`, async () => {
    const person = await openAccount(url)
    armed = point
    assertRefused(await create(person.bearer, { key: point }), 500, 'internal_error')
    assert.equal(await countOf(person.account_id), 0)
    const retry = await create(person.bearer, { key: point })
    assert.equal(retry.status, 201)
    assert.equal(retry.headers.get('idempotent-replayed'), null)
    assert.equal(typeof retry.body['key'], 'string')
  })
}

for (const point of ['after_commit', 'before_reply'] as const) {
  test(`after an exception at ${point} a retry returns the stored response, without the key`, async () => {
    const person = await openAccount(url)
    armed = point
    assertRefused(await create(person.bearer, { key: point }), 500, 'internal_error')
    assert.equal(await countOf(person.account_id), 1)
    const retry = await create(person.bearer, { key: point })
    assert.equal(retry.status, 201)
    assert.equal(retry.headers.get('idempotent-replayed'), 'true')
    assert.equal(retry.body['key'], null)
    assert.equal(await countOf(person.account_id), 1)
  })
}

test('a key can create keys, and the audit log names the creator', async () => {
  const person = await openAccount(url)
  const { id, key } = await createKey(url, person.bearer)
  const made = await create(key)
  assert.equal(made.status, 201)
  const entries = await auditLog(url, person.bearer, '&action=api_key.created')
  assert.deepEqual(
    entries.map(({ actor, resource, operation }) => [actor.type, resource?.id, operation]),
    [
      ['session', id, 'create_api_key'],
      ['api_key', made.body['id'], 'create_api_key'],
    ],
  )
  assert.equal(entries[1]?.actor.id, id)
})

test('an Idempotency-Key can be used again after seven days', async () => {
  const person = await openAccount(url)
  const first = await create(person.bearer, { key: 'old' })
  await advance(url, person.bearer, 7 * 86_400 - 60)
  const replayed = await create(person.bearer, { key: 'old' })
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
  await advance(url, person.bearer, 61)
  const body = { email: person.email, password: PASSWORD }
  const { bearer } = (await send(url, 'POST', '/v1/sessions', { body })).body
  const renewed = await create(bearer, { key: 'old' })
  assert.equal(renewed.headers.get('idempotent-replayed'), null)
  assert.notEqual(renewed.body['id'], first.body['id'])
})
