import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { type Reply, send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const kept = recordingLog()
const { url, runtime } = await startTestService({ dependencies: { log: kept.log } })
const { db } = runtime

const create = (body: unknown, key?: string): Promise<Reply> =>
  send(url, 'POST', '/v1/accounts', { body, ...(key !== undefined && { key }) })

const accountsOf = (email: string) => db.rows('select id from accounts where email = $1', [email])

test('a new account is signed in for 30 days', async () => {
  const before = Date.now()
  const { status, body, headers } = await create({ email: 'ada@example.com', password: PASSWORD })
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['id', 'email', 'bearer', 'session_id', 'expires_at'])
  assert.match(body['id'], /^acct_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  assert.match(body['session_id'], /^sess_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  assert.match(body['bearer'], /^fls_test_/)
  assert.equal(body['email'], 'ada@example.com')
  const lifetime_ms = Date.parse(body['expires_at']) - before
  assert(Math.abs(lifetime_ms - 30 * 86_400_000) < 60_000)
  assert.match(String(headers.get('request-id')), /^req_/)
  assert.equal(headers.get('cache-control'), 'no-store')

  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: body['bearer'] })
  assert.equal(account.status, 200)
  assert.equal(account.body['id'], body['id'])
})

test('an email is stored in lower case and is taken in any case', async () => {
  const first = await create({ email: 'Grace.Hopper@Example.COM', password: PASSWORD })
  assert.equal(first.body['email'], 'grace.hopper@example.com')
  for (const email of ['grace.hopper@example.com', 'GRACE.HOPPER@EXAMPLE.COM']) {
    assertRefused(await create({ email, password: PASSWORD }), 409, 'email_taken')
  }
  assert.equal((await accountsOf('grace.hopper@example.com')).length, 1)
})

test('an email is one address, also after it was normalized', async () => {
  const lists = ['u,b@example.com', 'u;b@example.com', 'Ada<b@example.com>', 'u:b@example.com']
  const fullwidth = ['a\uff20example.com,b@example.com', 'u\uff0cb@example.com', 'a@b\uff20c.com']
  // One character that becomes 18.
  const expanding = [`${'\ufdfa'.repeat(100)}@example.com`]
  for (const email of [...lists, ...fullwidth, ...expanding]) {
    const reply = await create({ email, password: PASSWORD })
    assertRefused(reply, 400, 'invalid_request')
    assert.deepEqual(reply.body['details'][0].field, 'email')
  }
  const made = await create({ email: "Zo\u00eb.o'neil+x@b\u00fccher.example", password: PASSWORD })
  assert.equal(made.status, 201)
})

test('one of twenty concurrent calls with one email opens an account', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, at) => {
      const email = at % 2 === 0 ? 'race@example.com' : 'RACE@example.com'
      return create({ email, password: PASSWORD })
    }),
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 409, 'email_taken')
  }
  assert.equal((await accountsOf('race@example.com')).length, 1)
})

test('a weak password is refused and stores nothing', async () => {
  const email = 'weak.person@example.com'
  for (const password of ['', 'short', '123456789', 'Password123', 'aaaaaaaaaaaa', email]) {
    const reply = await create({ email, password })
    assertRefused(reply, 422, 'weak_password')
  }
  assert.deepEqual(await accountsOf(email), [])
})

test('an invalid email, unknown or missing fields and malformed JSON are refused', async () => {
  for (const email of ['', 'ada', 'ada@', '@example.com', 'a b@example.com', 'a@b', 7, null]) {
    const reply = await create({ email, password: PASSWORD })
    assertRefused(reply, 400, 'invalid_request')
    assert.equal((reply.body['details'] as { field: string }[])[0]?.field, 'email')
  }
  const unknown = await create({ email: 'x@example.com', password: PASSWORD, admin: true })
  assertRefused(unknown, 400, 'invalid_request')
  assert.deepEqual(unknown.body['details'], [{ field: 'admin', message: 'is not recognized' }])
  assertRefused(await create({ email: 'x@example.com' }), 400, 'invalid_request')
  assertRefused(await create([]), 400, 'invalid_request')
  const raw = await send(url, 'POST', '/v1/accounts', { raw: '{"email":' })
  assertRefused(raw, 400, 'invalid_json')
  const text = await send(url, 'POST', '/v1/accounts', {
    raw: '{}',
    headers: { 'content-type': 'text/plain' },
  })
  assertRefused(text, 415, 'unsupported_media_type')
})

test('neither password nor bearer is in any table or log line in clear text', async () => {
  const password = 'planted-Passphrase-8861'
  const email = 'planted@example.com'
  const made = await create({ email, password }, 'planted-key')
  const again = await create({ email, password }, 'planted-key')
  const body = { email, password: `${password}x` }
  const failed = await send(url, 'POST', '/v1/sessions', { body })
  assert.equal(failed.status, 401)

  const places = { tables: await wholeDatabase(db), log: kept.text(), failed: failed.text }
  assert(places.tables.includes('planted@example.com'), 'the tables were read')
  assert(places.log.includes('"operation":"create_account"'), 'the log was kept')
  for (const secret of [password, made.body['bearer'], again.body['bearer']]) {
    for (const [place, text] of Object.entries(places)) {
      assert(!text.includes(secret), `a secret is in ${place}`)
    }
  }
})

test('the first event of an account holds it as GET returns it', async () => {
  const reply = await create({ email: 'event@example.com', password: PASSWORD }, 'event-key')
  const { id, bearer } = reply.body
  const rows = await db.rows<{ id: string; type: string; sequence: bigint; body: string }>(
    'select id, type, sequence, body from events where account_id = $1',
    [id],
  )
  assert.equal(rows.length, 1)
  const [event] = rows
  assert.equal(event?.type, 'account.created')
  assert.equal(event?.sequence, 1n)
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer })
  const { created_at, ...rest } = JSON.parse(event?.body ?? '{}')
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    id: event?.id,
    type: 'account.created',
    api_version: 'v1',
    livemode: false,
    account_id: id,
    sequence: 1,
    request: { id: reply.headers.get('request-id'), idempotency_key: 'event-key' },
    data: { object: account.body },
  })
})

test('account.created is the first audit entry', async () => {
  const reply = await create({ email: 'audited@example.com', password: PASSWORD })
  const { id, bearer, session_id } = reply.body
  const [entry, ...others] = await auditLog(url, bearer)
  assert.deepEqual(others, [])
  assert.equal(entry?.action, 'account.created')
  assert.equal(entry?.operation, 'create_account')
  assert.equal(entry?.result, 'success')
  assert.deepEqual(entry?.actor, { type: 'session', id: session_id, name: null })
  assert.deepEqual(entry?.resource, { type: 'account', id })
  assert.equal(entry?.request_id, reply.headers.get('request-id'))
})

test('a retry returns the same account with a new bearer that works', async () => {
  const body = { email: 'again@example.com', password: PASSWORD }
  const first = await create(body, 'again-1')
  assert.equal(first.headers.get('idempotent-replayed'), null)
  const second = await create(body, 'again-1')
  assert.equal(second.status, 201)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(second.body['id'], first.body['id'])
  assert.equal(second.body['email'], first.body['email'])
  assert.notEqual(second.body['bearer'], first.body['bearer'])
  assert.notEqual(second.body['session_id'], first.body['session_id'])
  for (const { bearer } of [first.body, second.body]) {
    const account = await send(url, 'GET', '/v1/accounts/me', { bearer })
    assert.equal(account.body['id'], first.body['id'])
  }

  const [stored] = await db.rows<{ body: string }>(
    'select body from stored_responses where key = $1',
    ['again-1'],
  )
  assert.equal(JSON.parse(stored?.body ?? '').bearer, null)
  assert.equal((await accountsOf('again@example.com')).length, 1)
  const events = await db.rows('select 1 from events where account_id = $1', [first.body['id']])
  assert.equal(events.length, 1)
})

test('a key reused with another body is refused; with another email it is a new key', async () => {
  await create({ email: 'reuse@example.com', password: PASSWORD }, 'reuse-1')
  const other = await create({ email: 'reuse@example.com', password: `${PASSWORD}!` }, 'reuse-1')
  assertRefused(other, 422, 'idempotency_key_reused')
  const elsewhere = await create({ email: 'reuse2@example.com', password: PASSWORD }, 'reuse-1')
  assert.equal(elsewhere.status, 201)
  assert.equal(elsewhere.headers.get('idempotent-replayed'), null)
})

test('a business refusal is stored under its key; a malformed request is not', async () => {
  const weak = { email: 'kept@example.com', password: 'short' }
  const first = await create(weak, 'kept-1')
  const second = await create(weak, 'kept-1')
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(second.text, first.text)

  await create({ email: 'kept@example.com' }, 'kept-2')
  const right = await create({ email: 'kept@example.com', password: PASSWORD }, 'kept-2')
  assert.equal(right.status, 201)
  assert.equal(right.headers.get('idempotent-replayed'), null)
})

test('fifty concurrent calls with one key open one account; the others get it or 409', async () => {
  const body = { email: 'fifty@example.com', password: PASSWORD }
  const replies = await Promise.all(Array.from({ length: 50 }, () => create(body, 'fifty')))
  const fresh = replies.filter(
    ({ status, headers }) => status === 201 && headers.get('idempotent-replayed') === null,
  )
  assert.equal(fresh.length, 1)
  for (const reply of replies) {
    if (reply.status === 201) {
      assert.equal(reply.body['id'], fresh[0]?.body['id'])
      continue
    }
    assertRefused(reply, 409, 'idempotency_in_progress')
    assert(Number(reply.headers.get('retry-after')) >= 1)
  }
  assert.equal((await accountsOf('fifty@example.com')).length, 1)
})
