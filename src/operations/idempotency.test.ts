import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const ada = await openAccount(url)
const bob = await openAccount(url)

const newKey = (who: Person, sent: RequestOptions = {}) =>
  send(url, 'POST', '/v1/api_keys', { bearer: who.bearer, body: {}, ...sent })

const keyCount = async (who: Person) => {
  const { body } = await send(url, 'GET', '/v1/api_keys?limit=100', { bearer: who.bearer })
  return (body['data'] as unknown[]).length
}

const isReplay = (reply: Reply) => reply.headers.get('idempotent-replayed') === 'true'

/** The rows that are stored under a key. */
const stored = (key: string) =>
  service.runtime.db.rows<{ scope: string; status: number; body: string }>(
    'select scope, status, body from stored_responses where key = $1',
    [key],
  )

test('a repeat answers as the first did, does nothing, and carries the secret as null', async () => {
  const key = randomUUID()
  const before_count = await keyCount(ada)
  const first = await newKey(ada, { key, body: { name: 'one' } })
  assert.equal(first.status, 201)
  assert.equal(isReplay(first), false)
  for (let at = 0; at < 3; at += 1) {
    const again = await newKey(ada, { key, body: { name: 'one' } })
    assert.equal(again.status, 201)
    assert.ok(isReplay(again))
    assert.deepEqual(again.body, { ...first.body, key: null })
  }
  assert.equal(await keyCount(ada), before_count + 1)
  const [row] = await stored(key)
  assert.ok(!row?.body.includes(String(first.body['key'])), 'the secret is not kept')
})

test('a repeat leaves no audit entry of its own', async () => {
  const carl = await openAccount(url)
  const key = randomUUID()
  await newKey(carl, { key })
  const entries = (await auditLog(url, carl.bearer)).length
  await newKey(carl, { key })
  assert.equal((await auditLog(url, carl.bearer)).length, entries)
})

test('spaces, order and notation of the body do not make it another request', async () => {
  const key = randomUUID()
  const path = '/v1/accounts/me'
  const patch = (raw: string) => send(url, 'PATCH', path, { bearer: ada.bearer, key, raw })
  const first = await patch(
    '{"notifications":{"card_frozen":false,"low_balance_threshold_usd":50}}',
  )
  assert.equal(first.status, 200)
  const again = await patch(
    ' { "notifications" : { "low_balance_threshold_usd": 5e1, "card_frozen": false } } ',
  )
  assert.ok(isReplay(again))
  assert.equal(again.text, first.text)
  assert.equal(again.body['version'], first.body['version'])
})

test('another body under the same key is refused and changes nothing', async () => {
  const key = randomUUID()
  const first = await newKey(ada, { key, body: { name: 'one' } })
  const count = await keyCount(ada)
  assertRefused(await newKey(ada, { key, body: { name: 'two' } }), 422, 'idempotency_key_reused')
  assertRefused(await newKey(ada, { key, body: {} }), 422, 'idempotency_key_reused')
  assert.equal(await keyCount(ada), count)
  const again = await newKey(ada, { key, body: { name: 'one' } })
  assert.equal(again.body['id'], first.body['id'])
})

test('a quoted key is the same key', async () => {
  const key = randomUUID()
  const first = await newKey(ada, { key })
  const again = await newKey(ada, { key: `"${key}"` })
  assert.ok(isReplay(again))
  assert.equal(again.body['id'], first.body['id'])
})

test('the same key of another account, another operation or another bearer of one account', async () => {
  const key = randomUUID()
  const first = await newKey(ada, { key })
  const other_account = await newKey(bob, { key })
  assert.equal(other_account.status, 201)
  assert.equal(isReplay(other_account), false)
  assert.notEqual(other_account.body['id'], first.body['id'])
  const other_operation = await send(url, 'PATCH', '/v1/accounts/me', {
    bearer: ada.bearer,
    key,
    body: {},
  })
  assert.equal(other_operation.status, 200)
  assert.equal(isReplay(other_operation), false)
  const { key: api_key } = await createKey(url, ada.bearer)
  const other_bearer = await newKey({ ...ada, bearer: api_key }, { key })
  assert.ok(isReplay(other_bearer), 'the scope is the account, whatever bearer speaks for it')
})

test('create_account: the key belongs to the email, and a repeat has a new bearer', async () => {
  const key = randomUUID()
  const open = (email: string) =>
    send(url, 'POST', '/v1/accounts', { key, body: { email, password: PASSWORD } })
  const email = `${randomUUID()}@example.com`
  const first = await open(email)
  const again = await open(email)
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.ok(isReplay(again))
  assert.equal(again.body['id'], first.body['id'])
  assert.notEqual(again.body['bearer'], first.body['bearer'])
  for (const { body } of [first, again]) {
    const me = await send(url, 'GET', '/v1/accounts/me', { bearer: String(body['bearer']) })
    assert.equal(me.body['id'], first.body['id'])
  }
  const other = await open(`${randomUUID()}@example.com`)
  assert.equal(isReplay(other), false)
  assert.notEqual(other.body['id'], first.body['id'])
  const wrong = await send(url, 'POST', '/v1/accounts', {
    key,
    body: { email, password: 'a guess at the password' },
  })
  assertRefused(wrong, 422, 'idempotency_key_reused')
  for (const row of await stored(key)) assert.ok(!row.body.includes('fls_'))
})

test('business refusals are kept: a 409 and a 422 are repeated although they would now pass', async () => {
  const email = `${randomUUID()}@example.com`
  const taken = randomUUID()
  await send(url, 'POST', '/v1/accounts', { body: { email, password: PASSWORD } })
  const patch = (key: string, body: object) =>
    send(url, 'PATCH', '/v1/accounts/me', { bearer: bob.bearer, key, body })
  const change = { email, current_password: PASSWORD }
  const refused = await patch(taken, change)
  assertRefused(refused, 409, 'email_taken')
  await service.runtime.db.run('update accounts set email = $2 where email = $1', [
    email,
    `freed_${email}`,
  ])
  const again = await patch(taken, change)
  assert.equal(again.status, 409)
  assert.ok(isReplay(again))
  assert.equal(again.text, refused.text)

  const weak = randomUUID()
  const opening = { email: `${randomUUID()}@example.com`, password: 'password123' }
  const first = await send(url, 'POST', '/v1/accounts', { key: weak, body: opening })
  assertRefused(first, 422, 'weak_password')
  const second = await send(url, 'POST', '/v1/accounts', { key: weak, body: opening })
  assert.ok(isReplay(second))
  assert.equal(second.text, first.text)
})

test('a refusal that was kept has left no effect behind', async () => {
  const dora = await openAccount(url)
  const key = randomUUID()
  const entries = (await auditLog(url, dora.bearer)).length
  const body = {
    email: ada.email,
    current_password: PASSWORD,
    notifications: { card_frozen: false },
  }
  const path = '/v1/accounts/me'
  assertRefused(
    await send(url, 'PATCH', path, { bearer: dora.bearer, key, body }),
    409,
    'email_taken',
  )
  const me = await send(url, 'GET', path, { bearer: dora.bearer })
  assert.equal(me.body['version'], 1)
  assert.equal((await auditLog(url, dora.bearer)).length, entries)
})

test('responses that a retry can change are not stored: 400, 401, 403, 404, 503', async () => {
  const key = randomUUID()
  assertRefused(await newKey(ada, { key, body: { name: 5 } }), 400, 'invalid_request')
  assertRefused(await newKey({ ...ada, bearer: 'fls_nobody' }, { key }), 401, 'invalid_token')
  const wrong = { email: 'x@example.com', current_password: 'not the password' }
  const path = '/v1/accounts/me'
  const denied = await send(url, 'PATCH', path, { bearer: ada.bearer, key, body: wrong })
  assertRefused(denied, 401, 'invalid_credentials')
  const { key: api_key } = await createKey(url, ada.bearer)
  const forbidden = await send(url, 'PATCH', path, {
    bearer: api_key,
    key,
    body: { email: 'x@y.zz' },
  })
  assertRefused(forbidden, 403, 'credential_not_allowed')
  assert.deepEqual(await stored(key), [])
  const passed = await newKey(ada, { key })
  assert.equal(passed.status, 201)
  assert.equal(isReplay(passed), false)
})

test('sign_in is never kept: each repeat is a session of its own', async () => {
  const key = randomUUID()
  const body = { email: ada.email, password: PASSWORD }
  const [first, again] = [
    await send(url, 'POST', '/v1/sessions', { key, body }),
    await send(url, 'POST', '/v1/sessions', { key, body }),
  ]
  assert.equal(again.status, 200)
  assert.equal(isReplay(again), false)
  assert.notEqual(again.body['session_id'], first.body['session_id'])
  assert.deepEqual(await stored(key), [])
})

test('an invalid key is a 400, and so is a repeated header', async () => {
  const count = await keyCount(ada)
  for (const key of ['', ' ', '""', 'x'.repeat(256), 'x'.repeat(300), 'a b', 'schlüssel']) {
    assertRefused(await newKey(ada, { key }), 400, 'invalid_idempotency_key')
  }
  const twice = await rawPost(url, ada.bearer, ['idempotency-key', 'a', 'idempotency-key', 'b'])
  assert.equal(twice.status, 400)
  assert.equal(JSON.parse(twice.text).error, 'invalid_idempotency_key')
  assert.equal(await keyCount(ada), count)
  assert.equal((await newKey(ada, { key: 'x'.repeat(255) })).status, 201)
  assert.equal((await newKey(ada, { key: `"${'y'.repeat(255)}"` })).status, 201)
})

/** Headers are a list, so that one can be sent twice. */
function rawPost(base: string, bearer: string, headers: string[]) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(base)
    const sent = ['host', `${hostname}:${port}`, 'authorization', `Bearer ${bearer}`, ...headers]
    const options = { hostname, port, path: '/v1/api_keys', method: 'POST', headers: sent }
    const request = httpRequest(options, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += String(chunk)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.end()
  })
}

test('fifty concurrent calls under one key have one effect; the rest wait or are replayed', async () => {
  const erin = await openAccount(url)
  const key = randomUUID()
  const replies = await Promise.all(Array.from({ length: 50 }, () => newKey(erin, { key })))
  const fresh = replies.filter((reply) => reply.status === 201 && !isReplay(reply))
  assert.equal(fresh.length, 1)
  for (const reply of replies) {
    if (reply.status === 201) assert.equal(reply.body['id'], fresh[0]?.body['id'])
    else {
      assertRefused(reply, 409, 'idempotency_in_progress')
      assert.equal(reply.headers.get('retry-after'), '1')
    }
  }
  assert.equal(await keyCount(erin), 1)
  assert.ok(isReplay(await newKey(erin, { key })))
})

test('fifty concurrent sign-ups under one key and email create one account', async () => {
  const body = { email: `${randomUUID()}@example.com`, password: PASSWORD }
  const key = randomUUID()
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => send(url, 'POST', '/v1/accounts', { key, body })),
  )
  const ids = replies.filter(({ status }) => status === 201).map((reply) => reply.body['id'])
  assert.equal(new Set(ids).size, 1)
  const rows = await service.runtime.db.rows('select id from accounts where email = $1', [
    body.email,
  ])
  assert.deepEqual(rows, [{ id: ids[0] }])
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 409, 'idempotency_in_progress')
  }
})

test('a response is stored for seven days, and the key is new after that', async () => {
  const fred = await openAccount(url)
  const key = randomUUID()
  const first = await newKey(fred, { key, body: { name: 'one' } })
  const DAY_S = 86_400
  await advance(url, fred.bearer, 7 * DAY_S - 60)
  assert.ok(isReplay(await newKey(fred, { key, body: { name: 'one' } })))
  await advance(url, fred.bearer, 120)
  const later = await newKey(fred, { key, body: { name: 'another' } })
  assert.equal(later.status, 201)
  assert.equal(isReplay(later), false)
  assert.notEqual(later.body['id'], first.body['id'])
})
