import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockAccount } from '#domain/accounts/account_store.ts'
import { hashPassword } from '#domain/accounts/password.ts'
import { advance, assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const STEP_MS = 30_000
const DAY_S = 86_400

const clock = manualClock()
const { url, runtime, owner_db } = await startTestService({ dependencies: { clock } })
const { db } = runtime

const signIn = (email: string, password = PASSWORD, totp_code?: string): Promise<Reply> =>
  send(url, 'POST', '/v1/sessions', { body: { email, password, totp_code } })

const getAccount = (bearer: string) => send(url, 'GET', '/v1/accounts/me', { bearer })

async function fail(email: string, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    assertRefused(await signIn(email, `wrong ${at}`), 401, 'invalid_credentials')
  }
}

test('the right password opens a session of 30 days, with the email in any case', async () => {
  const person = await openAccount(url)
  const before = Date.now()
  const { status, body, headers } = await signIn(person.email.toUpperCase())
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['bearer', 'session_id', 'account_id', 'expires_at'])
  assert.equal(body['account_id'], person.account_id)
  assert.match(body['session_id'], /^sess_/)
  const lifetime_ms = Date.parse(body['expires_at']) - before - runtime.clock.offset_ms()
  assert(Math.abs(lifetime_ms - 30 * DAY_S * 1_000) < 60_000)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal((await getAccount(body['bearer'])).body['id'], person.account_id)
  assert.equal((await getAccount(person.bearer)).status, 200)
})

test('a wrong password and an unknown email get the same response and take as long', async () => {
  const costly = await startTestService({ env: { FLORIN_PASSWORD_HASH_MIB: '64' } })
  const person = await openAccount(costly.url)
  // In CPU time of this process, which hashes: other work on the machine makes single calls wait.
  const timed = async (email: string) => {
    const before = process.cpuUsage()
    const body = { email, password: 'not the password' }
    const reply = await send(costly.url, 'POST', '/v1/sessions', { body })
    const { user, system } = process.cpuUsage(before)
    return { reply, ms: (user + system) / 1_000 }
  }
  const known: number[] = []
  const unknown: number[] = []
  for (let at = 0; at < 4; at += 1) {
    const wrong = await timed(person.email)
    const nobody = await timed(`nobody_${at}@example.com`)
    assertRefused(wrong.reply, 401, 'invalid_credentials')
    assert.deepEqual(refusalOf(nobody.reply), refusalOf(wrong.reply))
    known.push(wrong.ms)
    unknown.push(nobody.ms)
  }
  // Without hashing, a response takes a tenth of the time. Tasks of the service only add to some of
  // them, so the quickest ones are compared.
  const [quickest_known, quickest_unknown] = [Math.min(...known), Math.min(...unknown)]
  assert(quickest_unknown > quickest_known / 2, `${quickest_unknown} ms, not ${quickest_known} ms`)
})

test('a sign-in is recorded in an event and the audit log, without the bearer', async () => {
  const person = await openAccount(url)
  await signIn(person.email, 'not the password')
  const reply = await signIn(person.email)
  const { session_id, bearer, expires_at } = reply.body
  const [event] = await db.rows<{ sequence: bigint; body: string }>(
    `select sequence, body from events where account_id = $1 and type = 'account.signed_in'`,
    [person.account_id],
  )
  assert.equal(event?.sequence, 2n)
  const { data, request } = JSON.parse(event?.body ?? '{}')
  assert.equal(request.id, reply.headers.get('request-id'))
  assert.equal(data.object.id, session_id)
  assert.equal(data.object.account_id, person.account_id)
  assert.equal(data.object.expires_at, expires_at)
  assert(!event?.body.includes(bearer))

  const entries = await auditLog(url, bearer, '&operation=sign_in')
  assert.deepEqual(
    entries.map(({ action, result }) => [action, result]),
    [
      ['session.failed', 'failure'],
      ['session.created', 'success'],
    ],
  )
  assert.deepEqual(entries[0]?.actor, { type: 'session', id: null, name: null })
  assert.deepEqual(entries[0]?.resource, { type: 'account', id: person.account_id })
  assert.equal(entries[1]?.actor.id, session_id)
  assert.deepEqual(entries[1]?.resource, { type: 'session', id: session_id })
})

test('ten failures lock an email, known or not, even for the right password', async () => {
  const person = await openAccount(url)
  const nobody = 'nobody.locked@example.com'
  await fail(person.email, 10)
  await fail(nobody, 10)
  const known = await signIn(person.email)
  const unknown = await signIn(nobody)
  assertRefused(known, 429, 'too_many_attempts')
  assert.deepEqual(refusalOf(unknown), refusalOf(known))
  for (const reply of [known, unknown]) {
    const seconds = Number(reply.headers.get('retry-after'))
    assert(seconds > 14 * 60 && seconds <= 15 * 60, `Retry-After is ${seconds}`)
  }
  assert.equal((await getAccount(person.bearer)).status, 200)

  await advance(url, person.bearer, 14 * 60)
  assertRefused(await signIn(person.email), 429, 'too_many_attempts')
  await advance(url, person.bearer, 61)
  assert.equal((await signIn(person.email)).status, 200)
  await fail(nobody, 1)
})

test('the right password clears earlier failures', async () => {
  const person = await openAccount(url)
  await fail(person.email, 9)
  assert.equal((await signIn(person.email)).status, 200)
  await fail(person.email, 9)
  assert.equal((await signIn(person.email)).status, 200)
})

test('at most ten of fifty concurrent guesses are checked', async () => {
  const person = await openAccount(url)
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, at) => signIn(person.email, `guess number ${at}`)),
  )
  const checked = replies.filter(({ body }) => body['error'] === 'invalid_credentials')
  assert.equal(checked.length, 10)
  for (const reply of replies.filter(({ status }) => status !== 401)) {
    assertRefused(reply, 429, 'too_many_attempts')
  }
  const failed = await auditLog(url, person.bearer, '&action=session.failed')
  assert.equal(failed.length, 10)
})

test('two-factor authentication needs a code of this time step or an adjacent one', async () => {
  for (const steps of [-1, 0, 1]) {
    const person = await openAccount(url)
    const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
    clock.advance(2 * STEP_MS)
    assertRefused(await signIn(person.email), 401, 'totp_required')
    const early = codeOf(secret, clock, -2)
    const late = codeOf(secret, clock, 2)
    assertRefused(await signIn(person.email, PASSWORD, early), 401, 'totp_invalid')
    assertRefused(await signIn(person.email, PASSWORD, late), 401, 'totp_invalid')
    const right = await signIn(person.email, PASSWORD, codeOf(secret, clock, steps))
    assert.equal(right.status, 200, right.text)
  }
})

test('a code works once, even in concurrent calls', async () => {
  const person = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const used = await signIn(person.email, PASSWORD, codeOf(secret, clock))
  assertRefused(used, 401, 'totp_invalid')
  clock.advance(STEP_MS)
  const code = codeOf(secret, clock)
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => signIn(person.email, PASSWORD, code)),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 401, 'totp_invalid')
  }
  assertRefused(await signIn(person.email, PASSWORD, code), 401, 'totp_invalid')
})

test('a recovery code works once, with any case, spaces or hyphens', async () => {
  const person = await openAccount(url)
  const { recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const [first = '', second = ''] = recovery_codes
  assert.equal((await signIn(person.email, PASSWORD, first)).status, 200)
  assertRefused(await signIn(person.email, PASSWORD, first), 401, 'totp_invalid')
  const typed = ` ${second.toUpperCase().replace('-', ' ')}`
  assert.equal((await signIn(person.email, PASSWORD, typed)).status, 200)
  assertRefused(await signIn(person.email, PASSWORD, second), 401, 'totp_invalid')
})

test('wrong codes count as failures, lock the email and are audited', async () => {
  const person = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  clock.advance(STEP_MS)
  for (let at = 0; at < 10; at += 1) {
    const wrong = wrongCodeOf(secret, clock)
    assertRefused(await signIn(person.email, PASSWORD, wrong), 401, 'totp_invalid')
  }
  const right = await signIn(person.email, PASSWORD, codeOf(secret, clock))
  assertRefused(right, 429, 'too_many_attempts')
  const failed = await auditLog(url, person.bearer, '&action=session.failed')
  assert.equal(failed.length, 10)
})

test('totp_required neither counts as a guess nor clears guesses', async () => {
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, clock)
  for (let at = 0; at < 12; at += 1) {
    assertRefused(await signIn(person.email), 401, 'totp_required')
  }
  await fail(person.email, 9)
  assertRefused(await signIn(person.email), 401, 'totp_required')
  await fail(person.email, 1)
  assertRefused(await signIn(person.email), 429, 'too_many_attempts')
})

test('a session expires after 30 days, even if it is used', async () => {
  const person = await openAccount(url)
  const { bearer } = (await signIn(person.email)).body
  await advance(url, bearer, 15 * DAY_S)
  assert.equal((await getAccount(bearer)).status, 200)
  await advance(url, bearer, 15 * DAY_S - 60)
  assert.equal((await getAccount(bearer)).status, 200)
  await advance(url, bearer, 61)
  assertRefused(await getAccount(bearer), 401, 'token_expired')
  assert.equal((await signIn(person.email)).status, 200)
})

test('suspension is only disclosed to the right password', async () => {
  const person = await openAccount(url)
  const key = await send(url, 'POST', '/v1/api_keys', { bearer: person.bearer, body: {} })
  await db.run(`update accounts set status = 'suspended' where id = $1`, [person.account_id])
  assertRefused(await signIn(person.email), 403, 'account_suspended')
  assertRefused(await signIn(person.email, 'not the password'), 401, 'invalid_credentials')
  // A node remembers bearers for half a second.
  clock.advance(500)
  assertRefused(await getAccount(person.bearer), 403, 'account_suspended')
  assertRefused(await getAccount(key.body['key']), 403, 'account_suspended')
  await db.run(`update accounts set status = 'active' where id = $1`, [person.account_id])
  assert.equal((await signIn(person.email)).status, 200)
})

/** Changes the account after a sign-in has checked it and before its transaction. */
async function signInDuring(person: Person, change: string, value: string): Promise<Reply> {
  const isWaiting = async () => {
    const waiting = await owner_db.rows(
      `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return waiting.length > 0
  }
  const under_way = await db.transaction(async (tx) => {
    await lockAccount(tx, person.account_id)
    const reply = signIn(person.email)
    assert(await eventually(isWaiting, { within_ms: 20_000 }))
    await tx.run(`update accounts set ${change} = $2 where id = $1`, [person.account_id, value])
    return { reply }
  })
  return under_way.reply
}

test('a password that changes during a sign-in opens no session', async () => {
  const person = await openAccount(url)
  const hash = await hashPassword('quite another password', { password_hash_mib: 1 })
  const late = await signInDuring(person, 'password_hash', hash)
  assertRefused(late, 401, 'invalid_credentials')
  const suspended = await signInDuring(await openAccount(url), 'status', 'suspended')
  assertRefused(suspended, 403, 'account_suspended')
})

test('an Idempotency-Key is ignored: every call opens a session', async () => {
  const { email } = await openAccount(url)
  const sent = { key: 'sign-in-1', body: { email, password: PASSWORD } }
  const first = await send(url, 'POST', '/v1/sessions', sent)
  const second = await send(url, 'POST', '/v1/sessions', sent)
  assert.equal(second.status, 200)
  assert.equal(second.headers.get('idempotent-replayed'), null)
  assert.notEqual(second.body['session_id'], first.body['session_id'])
  const stored = await db.rows('select 1 from stored_responses where key = $1', ['sign-in-1'])
  assert.deepEqual(stored, [])
})
