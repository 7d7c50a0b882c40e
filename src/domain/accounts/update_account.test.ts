import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '#contract/accounts.ts'
import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { updateAccountRow } from '#domain/accounts/account_store.ts'
import { UNDO_HOURS } from '#domain/credentials/security_undo.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime, owner_db } = await startTestService()
const { db } = runtime

const NEW_PASSWORD = 'quite another password'

const update = (bearer: string, body: unknown): Promise<Reply> =>
  send(url, 'PATCH', '/v1/accounts/me', { bearer, body })

const signIn = (email: string, password: string): Promise<Reply> =>
  send(url, 'POST', '/v1/sessions', { body: { email, password } })

async function accountOf({ bearer }: Person): Promise<Account> {
  const reply = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as unknown as Account
}

test('a new email is stored in lower case, signs in, and frees the old one after 72 hours', async () => {
  const person = await openAccount(url)
  const email = `New.${person.email}`
  const reply = await update(person.bearer, { email, current_password: PASSWORD })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body['email'], email.toLowerCase())
  assert.equal(reply.body['version'], 2)
  assert.deepEqual(reply.body, await accountOf(person))
  assert.equal((await signIn(email, PASSWORD)).status, 200)
  assertRefused(await signIn(person.email, PASSWORD), 401, 'invalid_credentials')
  const sent = { body: { email: person.email, password: PASSWORD } }
  assertRefused(await send(url, 'POST', '/v1/accounts', sent), 409, 'email_taken')
  await advance(url, person.bearer, UNDO_HOURS * 3_600)
  assert.equal((await send(url, 'POST', '/v1/accounts', sent)).status, 201)
})

test("a taken email is refused in any case; the account's own is not", async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  const email = ada.email.toUpperCase()
  const taken = await update(bob.bearer, { email, current_password: PASSWORD })
  assertRefused(taken, 409, 'email_taken')
  assert.equal((await accountOf(bob)).version, 1)
  const own = await update(ada.bearer, { email, current_password: PASSWORD })
  assert.equal(own.status, 200)
})

test('one of many concurrent claims of an email succeeds', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => openAccount(url)))
  const body = { email: 'wanted@example.com', current_password: PASSWORD }
  const replies = await Promise.all([
    ...people.map(({ bearer }) => update(bearer, body)),
    send(url, 'POST', '/v1/accounts', {
      body: { email: 'wanted@example.com', password: PASSWORD },
    }),
  ])
  assert.equal(replies.filter(({ status }) => status < 300).length, 1)
  for (const reply of replies.filter(({ status }) => status >= 300)) {
    assertRefused(reply, 409, 'email_taken')
  }
})

test('a second claim of an email waits for the first and is refused', async () => {
  const [ada, bob] = [await openAccount(url), await openAccount(url)]
  const change = ({ account_id }: Person) => ({
    id: account_id,
    email: 'tight@example.com',
    password_hash: 'none',
    notifications: STANDARD_NOTIFICATIONS,
    now: new Date(),
  })
  const isWaiting = async () => {
    const waiting = await owner_db.rows(
      `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return waiting.length > 0
  }
  let second: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    await updateAccountRow(tx, change(ada))
    second = db.transaction((other) => updateAccountRow(other, change(bob)))
    second.catch(() => undefined)
    assert(await eventually(isWaiting, { within_ms: 20_000 }))
  })
  await assert.rejects(second, { code: 'email_taken' })
})

test('a new password ends every other session, but not this one or any key', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const other = (await signIn(person.email, PASSWORD)).body['bearer']
  const body = { password: NEW_PASSWORD, current_password: PASSWORD }
  assert.equal((await update(person.bearer, body)).status, 200)

  const statusOf = async (bearer: string) =>
    (await send(url, 'GET', '/v1/accounts/me', { bearer })).status
  assert.equal(await statusOf(person.bearer), 200)
  assert.equal(await statusOf(key), 200)
  const ended = await send(url, 'GET', '/v1/accounts/me', { bearer: other })
  assertRefused(ended, 401, 'token_revoked')
  assertRefused(await signIn(person.email, PASSWORD), 401, 'invalid_credentials')
  assert.equal((await signIn(person.email, NEW_PASSWORD)).status, 200)
})

test('a change of email or password needs the correct current password', async () => {
  const person = await openAccount(url)
  for (const change of [{ email: 'x@example.com' }, { password: NEW_PASSWORD }]) {
    const without = await update(person.bearer, change)
    assertRefused(without, 400, 'invalid_request')
    assert.equal((without.body['details'] as { field: string }[])[0]?.field, 'current_password')
    const wrong = await update(person.bearer, { ...change, current_password: 'not this one' })
    assertRefused(wrong, 401, 'invalid_credentials')
  }
  assert.equal((await accountOf(person)).version, 1)
})

test('guesses of the current password are limited and do not lock sign-in', async () => {
  const person = await openAccount(url)
  const guess = { email: 'x@example.com', current_password: 'not this one' }
  const replies = await Promise.all(Array.from({ length: 20 }, () => update(person.bearer, guess)))
  assert.equal(replies.filter(({ status }) => status === 401).length, 10)
  const right = { ...guess, current_password: PASSWORD }
  const locked = await update(person.bearer, right)
  assertRefused(locked, 429, 'too_many_attempts')
  assert(Number(locked.headers.get('retry-after')) > 0)
  assert.equal((await signIn(person.email, PASSWORD)).status, 200)
})

test('a weak new password is refused', async () => {
  const person = await openAccount(url)
  for (const password of ['short', 'password123', person.email]) {
    const reply = await update(person.bearer, { password, current_password: PASSWORD })
    assertRefused(reply, 422, 'weak_password')
  }
  assert.equal((await signIn(person.email, PASSWORD)).status, 200)
})

test('one notification setting can change without the others', async () => {
  const person = await openAccount(url)
  let expected = (await accountOf(person)).notifications
  const changes: Partial<Account['notifications']>[] = [
    { topup_confirmed: false },
    { topup_expired: false },
    { transaction_authorized: true },
    { transaction_declined: false },
    { card_frozen: false },
    { dispute_updates: false },
    { withdrawal_broadcasted: false },
    { system_maintenance: false },
    { low_balance_threshold_usd: 12.34 },
    { low_balance_threshold_usd: 0 },
  ]
  for (const [at, notifications] of changes.entries()) {
    const reply = await update(person.bearer, { notifications })
    assert.equal(reply.status, 200, reply.text)
    expected = { ...expected, ...notifications }
    assert.deepEqual(reply.body['notifications'], expected)
    assert.equal(reply.body['version'], at + 2)
  }
  assert.deepEqual((await accountOf(person)).notifications, expected)
})

test('null clears the threshold; any other null is refused', async () => {
  const person = await openAccount(url)
  await update(person.bearer, { notifications: { low_balance_threshold_usd: 50 } })
  const cleared = await update(person.bearer, {
    notifications: { low_balance_threshold_usd: null },
  })
  assert.equal((cleared.body as unknown as Account).notifications.low_balance_threshold_usd, null)
  for (const body of [{ notifications: null }, { notifications: { card_frozen: null } }]) {
    assertRefused(await update(person.bearer, body), 400, 'invalid_request')
  }
})

test('turning off security alerts is refused with the whole request', async () => {
  const person = await openAccount(url)
  const notifications = { security_alerts: false, card_frozen: false }
  const reply = await update(person.bearer, { notifications })
  assertRefused(reply, 422, 'invalid_request')
  assert.equal((await accountOf(person)).notifications.card_frozen, true)
})

test('a threshold is an exact amount with two decimals, not negative', async () => {
  const person = await openAccount(url)
  for (const threshold of ['0.123', '-1', '1e-3', '0.1000000000000000000000001']) {
    const reply = await send(url, 'PATCH', '/v1/accounts/me', {
      bearer: person.bearer,
      raw: `{"notifications":{"low_balance_threshold_usd":${threshold}}}`,
    })
    assertRefused(reply, 422, 'invalid_amount')
    const [detail] = reply.body['details'] as { field: string }[]
    assert.equal(detail?.field, 'notifications.low_balance_threshold_usd')
  }
  const text = await update(person.bearer, { notifications: { low_balance_threshold_usd: '5' } })
  assertRefused(text, 400, 'invalid_request')
})

test('an API key can change notifications and nothing else', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const allowed = await update(key, { notifications: { card_frozen: false } })
  assert.equal(allowed.status, 200)
  for (const body of [
    { email: 'x@example.com', current_password: PASSWORD },
    { password: NEW_PASSWORD, current_password: PASSWORD },
    { current_password: PASSWORD },
    { notifications: {}, email: 'x@example.com', current_password: PASSWORD },
  ]) {
    assertRefused(await update(key, body), 403, 'credential_not_allowed')
  }
  assert.equal((await signIn(person.email, PASSWORD)).status, 200)
})

test('an empty PATCH returns the account and changes nothing', async () => {
  const person = await openAccount(url)
  const before = await accountOf(person)
  for (const body of [{}, { notifications: {} }, undefined]) {
    const reply = await update(person.bearer, body)
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, before)
  }
})

test('values that are set already change nothing and are no change in the audit log', async () => {
  const person = await openAccount(url)
  await update(person.bearer, { notifications: { low_balance_threshold_usd: 5.5 } })
  const before = await accountOf(person)
  const same = { card_frozen: true, security_alerts: true, low_balance_threshold_usd: 5.5 }
  for (const body of [
    { notifications: same },
    { email: person.email.toUpperCase(), current_password: PASSWORD },
  ]) {
    const reply = await update(person.bearer, body)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.body, before)
  }
  assert.equal((await auditLog(url, person.bearer, '&action=account.updated')).length, 1)
})

test('unknown fields are refused, nested ones too', async () => {
  const { bearer } = await openAccount(url)
  for (const body of [{ status: 'active' }, { notifications: { sms: true } }, { balance_usd: 5 }]) {
    assertRefused(await update(bearer, body), 400, 'invalid_request')
  }
})

test('concurrent changes are all kept, and each increases the version', async () => {
  const person = await openAccount(url)
  const names = ['topup_confirmed', 'topup_expired', 'card_frozen', 'dispute_updates'] as const
  const replies = await Promise.all(
    names.map((name) => update(person.bearer, { notifications: { [name]: false } })),
  )
  const versions = replies.map(({ body }) => Number(body['version'])).sort((a, b) => a - b)
  assert.deepEqual(versions, [2, 3, 4, 5])
  const { notifications } = await accountOf(person)
  for (const name of names) assert.equal(notifications[name], false)
})

test('a change is audited', async () => {
  const person = await openAccount(url)
  await update(person.bearer, { notifications: { card_frozen: false } })
  const [entry] = await auditLog(url, person.bearer, '&action=account.updated')
  assert.equal(entry?.operation, 'update_account')
  assert.equal(entry?.actor.type, 'session')
  assert.deepEqual(entry?.resource, { type: 'account', id: person.account_id })
})

test('a change under one Idempotency-Key is made once', async () => {
  const person = await openAccount(url)
  const sent = {
    bearer: person.bearer,
    key: 'patch-1',
    body: { password: NEW_PASSWORD, current_password: PASSWORD },
  }
  const first = await send(url, 'PATCH', '/v1/accounts/me', sent)
  const again = await send(url, 'PATCH', '/v1/accounts/me', sent)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(again.text, first.text)
  assert.equal((await accountOf(person)).version, 2)
})
