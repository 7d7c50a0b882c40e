import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { requestReset, resetPassword } from '#test/support/password_resets.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

const service = await startAgentService({
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_cooldown_hours: 24 }) },
})
const { url, runtime } = service
const { clock, db } = runtime
const NEW_PASSWORD = 'a password that is new'

const signIn = (person: Person, password: string, totp_code?: string) =>
  send(url, 'POST', '/v1/sessions', {
    body: { email: person.email, password, ...(totp_code && { totp_code }) },
  })
const statusOf = async (bearer: string) =>
  (await send(url, 'GET', '/v1/accounts/me', { bearer })).status

/** Shows that the token is still good. */
async function assertUsable(token: string, more: object = {}): Promise<void> {
  const reply = await resetPassword(url, { token, password: NEW_PASSWORD, ...more })
  assert.equal(reply.status, 204, reply.text)
}

test('the new password signs in and the old one does not', async () => {
  const person = await openAccount(url)
  const token = await requestReset(service, person.email)
  const reply = await resetPassword(url, { token, password: NEW_PASSWORD })
  assert.deepEqual([reply.status, reply.text], [204, ''])
  assertRefused(await signIn(person, PASSWORD), 401, 'invalid_credentials')
  assert.equal((await signIn(person, NEW_PASSWORD)).status, 200)
})

test('all sessions end; API keys and grants keep working', async () => {
  const person = await openAccount(url)
  const second = String((await signIn(person, PASSWORD)).body['bearer'])
  const { key } = await createKey(url, person.bearer)
  const agent = await registerAgent(url)
  const { access_token } = await authorize(agent, person, {
    scope: 'account:read',
    resource: `${url}/v1`,
  })
  await assertUsable(await requestReset(service, person.email))
  for (const bearer of [person.bearer, second]) {
    assertRefused(await send(url, 'GET', '/v1/accounts/me', { bearer }), 401, 'token_revoked')
  }
  assert.equal(await statusOf(key), 200)
  assert.equal(await statusOf(access_token), 200)
})

test('withdrawals pause for the cool-down period', async () => {
  const person = await openAccount(url)
  await fundTreasury(db, person.account_id, 200)
  const { key } = await createKey(url, person.bearer)
  await advance(url, person.bearer, 25 * 3_600)
  const { status } = await askToWithdraw({ url, bearer: key }, { amount_usd: 20 })
  assert.equal(status, 201, 'the key itself has cooled down')
  await assertUsable(await requestReset(service, person.email))
  const { bearer } = (await signIn(person, NEW_PASSWORD)).body
  for (const each of [key, bearer]) {
    const refused = await askToWithdraw({ url, bearer: each }, { amount_usd: 20 })
    assertRefused(refused, 403, 'policy_denied')
  }
  await advance(url, key, 25 * 3_600)
  assert.equal((await askToWithdraw({ url, bearer: key }, { amount_usd: 20 })).status, 201)
})

test('the owner gets a security alert, and the audit log has an entry', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  await assertUsable(await requestReset(service, person.email))
  const inbox = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: key })
  const [mail] = inbox.body['data']
  assert.deepEqual([mail.kind, mail.to], ['password_reset', person.email])
  assert.equal(mail.subject, '[Sandbox] Your password was reset')
  const [entry] = await auditLog(url, key, '&action=reset_password')
  assert.deepEqual(
    [entry?.result, entry?.operation, entry?.resource],
    ['success', 'reset_password', { type: 'account', id: person.account_id }],
  )
})

test('a token works once', async () => {
  const person = await openAccount(url)
  const token = await requestReset(service, person.email)
  await assertUsable(token)
  const again = await resetPassword(url, { token, password: 'yet another password' })
  assertRefused(again, 401, 'reset_token_invalid')
  assert.equal((await signIn(person, NEW_PASSWORD)).status, 200)
})

test('of concurrent resets with one token exactly one wins', async () => {
  const person = await openAccount(url)
  const token = await requestReset(service, person.email)
  const passwords = Array.from({ length: 8 }, (_, at) => `a long password ${at}`)
  const replies = await Promise.all(
    passwords.map((password) => resetPassword(url, { token, password })),
  )
  const won = passwords.filter((_, at) => replies[at]?.status === 204)
  assert.equal(won.length, 1)
  for (const reply of replies) {
    if (reply.status !== 204) assertRefused(reply, 401, 'reset_token_invalid')
  }
  for (const password of passwords) {
    assert.equal((await signIn(person, password)).status, won.includes(password) ? 200 : 401)
  }
})

test('a token works for 30 minutes', async () => {
  const [early, late] = [await openAccount(url), await openAccount(url)]
  const tokens = [
    await requestReset(service, early.email),
    await requestReset(service, late.email),
  ] as const
  await advance(url, early.bearer, 29 * 60)
  await assertUsable(tokens[0])
  await advance(url, late.bearer, 60)
  const reply = await resetPassword(url, { token: tokens[1], password: NEW_PASSWORD })
  assertRefused(reply, 401, 'reset_token_invalid')
  assert.equal((await signIn(late, PASSWORD)).status, 200)
})

test('only the newest token works', async () => {
  const { email } = await openAccount(url)
  const older = await requestReset(service, email)
  const newest = await requestReset(service, email)
  const reply = await resetPassword(url, { token: older, password: NEW_PASSWORD })
  assertRefused(reply, 401, 'reset_token_invalid')
  await assertUsable(newest)
})

test('an unknown token is refused like a used one, before the password is looked at', async () => {
  for (const token of ['x', 'A'.repeat(43)]) {
    const reply = await resetPassword(url, { token, password: 'short' })
    assertRefused(reply, 401, 'reset_token_invalid')
  }
})

test('a change of email or password ends the link that was sent before', async () => {
  for (const change of [{ password: 'changed in settings' }, { email: 'moved@example.com' }]) {
    const person = await openAccount(url)
    const token = await requestReset(service, person.email)
    const body = { ...change, current_password: PASSWORD }
    const { bearer } = person
    assert.equal((await send(url, 'PATCH', '/v1/accounts/me', { bearer, body })).status, 200)
    const reply = await resetPassword(url, { token, password: NEW_PASSWORD })
    assertRefused(reply, 401, 'reset_token_invalid')
  }
})

test('a weak password is refused and leaves the token usable', async () => {
  const person = await openAccount(url)
  const token = await requestReset(service, person.email)
  for (const password of ['short', 'password123', person.email]) {
    assertRefused(await resetPassword(url, { token, password }), 422, 'weak_password')
  }
  assert.equal(await statusOf(person.bearer), 200, 'no session has ended')
  await assertUsable(token)
})

test('with two-factor on, a code is required; a missing and a wrong one leave the token usable', async () => {
  const person = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const token = await requestReset(service, person.email)
  const sent = { token, password: NEW_PASSWORD }
  assertRefused(await resetPassword(url, sent), 401, 'totp_required')
  const wrong = { ...sent, totp_code: wrongCodeOf(secret, clock) }
  assertRefused(await resetPassword(url, wrong), 401, 'totp_invalid')
  const [failure] = await auditLog(url, person.bearer, '&action=reset_password')
  assert.equal(failure?.result, 'failure')
  await assertUsable(token, { totp_code: codeOf(secret, clock, 1) })
  assertRefused(await signIn(person, NEW_PASSWORD), 401, 'totp_required')
})

test('a recovery code serves instead of a code, once', async () => {
  const person = await openAccount(url)
  const { recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const [code = ''] = recovery_codes
  await assertUsable(await requestReset(service, person.email), { totp_code: code })
  const token = await requestReset(service, person.email)
  const again = await resetPassword(url, { token, password: NEW_PASSWORD, totp_code: code })
  assertRefused(again, 401, 'totp_invalid')
})

test('guesses of codes are limited as at sign-in, over all tokens of the account', async () => {
  const person = await openAccount(url)
  const { secret, recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const guess = async (token: string, totp_code = wrongCodeOf(secret, clock)) =>
    resetPassword(url, { token, password: NEW_PASSWORD, totp_code })
  const first = await requestReset(service, person.email)
  for (let at = 0; at < 6; at += 1) assertRefused(await guess(first), 401, 'totp_invalid')
  const second = await requestReset(service, person.email)
  for (let at = 0; at < 4; at += 1) assertRefused(await guess(second), 401, 'totp_invalid')
  const right = codeOf(secret, clock, 1)
  assertRefused(await guess(second, right), 429, 'too_many_attempts')
  assert.equal((await signIn(person, PASSWORD, right)).status, 200, 'sign-in is not locked')
  await advance(url, person.bearer, 15 * 60 + 1)
  await assertUsable(second, { totp_code: recovery_codes[0] })
})

test('a reset lifts the lock of the sign-in', async () => {
  const person = await openAccount(url)
  for (let at = 0; at < 10; at += 1) await signIn(person, 'a forgotten password')
  assertRefused(await signIn(person, PASSWORD), 429, 'too_many_attempts')
  await assertUsable(await requestReset(service, person.email))
  assert.equal((await signIn(person, NEW_PASSWORD)).status, 200)
})

test('a suspended account is refused, and the token is usable after the suspension', async () => {
  const { email, account_id } = await openAccount(url)
  const token = await requestReset(service, email)
  await operate(url, 'POST', `/accounts/${account_id}/suspend`)
  const reply = await resetPassword(url, { token, password: NEW_PASSWORD })
  assertRefused(reply, 403, 'account_suspended')
  await operate(url, 'POST', `/accounts/${account_id}/reinstate`)
  await assertUsable(token)
})

test('a repeat with the same Idempotency-Key is replayed; a key belongs to its token', async () => {
  const [ada, bob] = [await openAccount(url), await openAccount(url)]
  const token = await requestReset(service, ada.email)
  const first = await resetPassword(url, { token, password: NEW_PASSWORD }, 'once')
  const again = await resetPassword(url, { token, password: NEW_PASSWORD }, 'once')
  assert.deepEqual([first.status, again.status], [204, 204])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const other = await requestReset(service, bob.email)
  const reply = await resetPassword(url, { token: other, password: NEW_PASSWORD }, 'once')
  assert.equal(reply.headers.get('idempotent-replayed'), null)
  assert.equal(reply.status, 204, reply.text)
})
