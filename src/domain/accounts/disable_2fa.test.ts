import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { type Reply, send } from '#test/support/http.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import {
  codeOf,
  type SecondFactor,
  turnOnTwoFactor,
  wrongCodeOf,
} from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const STEP_MS = 30_000

const clock = manualClock()
const { url, runtime } = await startTestService({ dependencies: { clock } })

const disable = (bearer: string, body: unknown): Promise<Reply> =>
  send(url, 'DELETE', '/v1/accounts/me/totp', { bearer, body })

/** Opens an account with two-factor authentication whose current code is unused. */
async function guarded(): Promise<Person & SecondFactor> {
  const person = await openAccount(url)
  const factor = await turnOnTwoFactor(url, person.bearer, clock)
  clock.advance(STEP_MS)
  return { ...person, ...factor }
}

async function statusOf(bearer: string): Promise<string> {
  const { body } = await send(url, 'GET', '/v1/accounts/me', { bearer })
  return body['two_factor_status']
}

test('password and code turn it off, and sign-in then needs only the password', async () => {
  const { bearer, email, secret } = await guarded()
  const reply = await disable(bearer, { password: PASSWORD, totp_code: codeOf(secret, clock) })
  assert.equal(reply.status, 204)
  assert.equal(reply.text, '')
  assert.equal(await statusOf(bearer), 'disabled')
  const body = { email, password: PASSWORD }
  assert.equal((await send(url, 'POST', '/v1/sessions', { body })).status, 200)
})

test('a recovery code works instead of a code, and no codes remain afterwards', async () => {
  const { bearer, account_id, recovery_codes } = await guarded()
  const body = { password: PASSWORD, totp_code: recovery_codes[3] }
  assert.equal((await disable(bearer, body)).status, 204)
  const left = await runtime.db.rows('select 1 from recovery_codes where account_id = $1', [
    account_id,
  ])
  assert.deepEqual(left, [])
})

test('a wrong password or a wrong code leaves it on', async () => {
  const { bearer, secret } = await guarded()
  const right = { password: PASSWORD, totp_code: codeOf(secret, clock) }
  const wrong_password = await disable(bearer, { ...right, password: 'not this one' })
  assertRefused(wrong_password, 401, 'invalid_credentials')
  const wrong_code = await disable(bearer, { ...right, totp_code: wrongCodeOf(secret, clock) })
  assertRefused(wrong_code, 401, 'totp_invalid')
  assert.equal(await statusOf(bearer), 'enabled')
  assert.equal((await disable(bearer, right)).status, 204)
})

test('a code that was used to sign in does not turn it off', async () => {
  const { bearer, email, secret } = await guarded()
  const totp_code = codeOf(secret, clock)
  const body = { email, password: PASSWORD, totp_code }
  assert.equal((await send(url, 'POST', '/v1/sessions', { body })).status, 200)
  assertRefused(await disable(bearer, { password: PASSWORD, totp_code }), 401, 'totp_invalid')
})

test('code guesses are limited, and then the right code is refused too', async () => {
  const { bearer, secret } = await guarded()
  const guess = { password: PASSWORD, totp_code: wrongCodeOf(secret, clock) }
  for (let at = 0; at < 10; at += 1) {
    assertRefused(await disable(bearer, guess), 401, 'totp_invalid')
  }
  const right = { password: PASSWORD, totp_code: codeOf(secret, clock) }
  const locked = await disable(bearer, right)
  assertRefused(locked, 429, 'too_many_attempts')
  assert(Number(locked.headers.get('retry-after')) > 0)
})

test('it cannot be turned off while it is off or pending', async () => {
  const { bearer } = await openAccount(url)
  const body = { password: PASSWORD, totp_code: '123456' }
  assertRefused(await disable(bearer, body), 409, 'totp_not_enabled')
  await send(url, 'POST', '/v1/accounts/me/totp', { bearer })
  assertRefused(await disable(bearer, body), 409, 'totp_not_enabled')
})

test('a session must send both password and code in the body', async () => {
  const { bearer, secret } = await guarded()
  const totp_code = codeOf(secret, clock)
  for (const body of [undefined, {}, { password: PASSWORD }, { totp_code }]) {
    assertRefused(await disable(bearer, body), 400, 'invalid_request')
  }
  const path = `/v1/accounts/me/totp?password=x&totp_code=${totp_code}`
  assertRefused(await send(url, 'DELETE', path, { bearer }), 400, 'unknown_parameter')
  const key = await send(url, 'POST', '/v1/api_keys', { bearer, body: { totp_code } })
  assertRefused(
    await disable(String(key.body['key']), { password: PASSWORD, totp_code }),
    403,
    'credential_not_allowed',
  )
  assert.equal(await statusOf(bearer), 'enabled')
})

test('turning it off is audited', async () => {
  const { bearer, account_id, secret } = await guarded()
  await disable(bearer, { password: PASSWORD, totp_code: codeOf(secret, clock) })
  const [entry, ...others] = await auditLog(url, bearer, '&action=totp.disabled')
  assert.deepEqual(others, [])
  assert.equal(entry?.operation, 'disable_2fa')
  assert.equal(entry?.result, 'success')
  assert.deepEqual(entry?.resource, { type: 'account', id: account_id })
})
