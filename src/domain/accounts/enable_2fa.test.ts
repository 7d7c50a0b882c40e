import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOTP, URI } from 'otpauth'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { type Reply, send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const PATH = '/v1/accounts/me/totp'
const STEP_MS = 30_000

const clock = manualClock()
const kept = recordingLog()
const { url, runtime } = await startTestService({ dependencies: { clock, log: kept.log } })

const enable = (bearer: string, totp_code?: string, key?: string): Promise<Reply> =>
  send(url, 'POST', PATH, {
    bearer,
    ...(totp_code !== undefined && { body: { totp_code } }),
    ...(key !== undefined && { key }),
  })

async function factorOf(bearer: string) {
  const { body } = await send(url, 'GET', '/v1/accounts/me', { bearer })
  return [body['two_factor_enabled'], body['two_factor_status'], body['version']]
}

test('the first call returns a secret and a URI for authenticator apps', async () => {
  const person = await openAccount(url)
  const { status, body } = await enable(person.bearer)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body).sort(), ['secret', 'status', 'uri'])
  assert.equal(body['status'], 'pending')
  assert.match(body['secret'], /^[A-Z2-7]{32}$/)
  const read = URI.parse(body['uri'])
  assert(read instanceof TOTP)
  assert.equal(read.secret.base32, body['secret'])
  assert.equal(read.issuer, 'Florin')
  assert.equal(read.label, person.email)
  assert.deepEqual([read.algorithm, read.digits, read.period], ['SHA1', 6, 30])
  assert.deepEqual(await factorOf(person.bearer), [false, 'pending', 2])
})

test('sign-in needs no code while the setup is pending', async () => {
  const { email, bearer } = await openAccount(url)
  await enable(bearer)
  const body = { email, password: PASSWORD }
  assert.equal((await send(url, 'POST', '/v1/sessions', { body })).status, 200)
})

test('a second call with a code turns it on and returns ten recovery codes', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = (await enable(bearer)).body
  const { status, body } = await enable(bearer, codeOf(secret, clock))
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body).sort(), ['recovery_codes', 'status'])
  assert.equal(body['status'], 'enabled')
  const codes: string[] = body['recovery_codes']
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.match(code, /^[a-z2-9]{5}-[a-z2-9]{5}$/)
  assert.deepEqual(await factorOf(bearer), [true, 'enabled', 3])
})

test('a wrong code, or a code without a secret, does not turn it on', async () => {
  const { bearer } = await openAccount(url)
  assertRefused(await enable(bearer, '123456'), 409, 'totp_not_enabled')
  const { secret } = (await enable(bearer)).body
  for (const code of [wrongCodeOf(secret, clock), 'abcdef', '12345', '1234567']) {
    assertRefused(await enable(bearer, code), 401, 'totp_invalid')
  }
  assert.deepEqual(await factorOf(bearer), [false, 'pending', 2])
})

test('a repeated first call replaces the secret', async () => {
  const { bearer } = await openAccount(url)
  const first = (await enable(bearer)).body['secret']
  const second = (await enable(bearer)).body['secret']
  assert.notEqual(second, first)
  assertRefused(await enable(bearer, codeOf(first, clock)), 401, 'totp_invalid')
  assert.equal((await enable(bearer, codeOf(second, clock))).status, 200)
})

test('it cannot be turned on twice, with or without a code', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  assertRefused(await enable(bearer), 409, 'totp_already_enabled')
  clock.advance(STEP_MS)
  assertRefused(await enable(bearer, codeOf(secret, clock)), 409, 'totp_already_enabled')
})

test('a code that is not checked does not count as a guess', async () => {
  const { bearer } = await openAccount(url)
  for (let at = 0; at < 10; at += 1) {
    assertRefused(await enable(bearer, '123456'), 409, 'totp_not_enabled')
  }
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  for (let at = 0; at < 10; at += 1) {
    assertRefused(await enable(bearer, codeOf(secret, clock, 1)), 409, 'totp_already_enabled')
  }
  const body = { password: PASSWORD, totp_code: codeOf(secret, clock, 1) }
  assert.equal((await send(url, 'DELETE', PATH, { bearer, body })).status, 204)
})

test('guesses of the first code are limited', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = (await enable(bearer)).body
  const wrong = wrongCodeOf(secret, clock)
  const replies = await Promise.all(Array.from({ length: 30 }, () => enable(bearer, wrong)))
  assert.equal(replies.filter(({ status }) => status === 401).length, 10)
  assertRefused(await enable(bearer, codeOf(secret, clock)), 429, 'too_many_attempts')
})

test('correct codes do not count as guesses: it can be turned on and off many times', async () => {
  const { bearer } = await openAccount(url)
  for (let at = 0; at < 7; at += 1) {
    const { secret } = await turnOnTwoFactor(url, bearer, clock)
    clock.advance(STEP_MS)
    const body = { password: PASSWORD, totp_code: codeOf(secret, clock) }
    const off = await send(url, 'DELETE', PATH, { bearer, body })
    assert.equal(off.status, 204, off.text)
  }
})

test('a new secret accepts time steps that the old secret has used', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  const body = { password: PASSWORD, totp_code: codeOf(secret, clock, 1) }
  assert.equal((await send(url, 'DELETE', PATH, { bearer, body })).status, 204)
  await turnOnTwoFactor(url, bearer, clock)
})

test('one of several concurrent confirmations turns it on', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = (await enable(bearer)).body
  const code = codeOf(secret, clock)
  const replies = await Promise.all(Array.from({ length: 5 }, () => enable(bearer, code)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 409, 'totp_already_enabled')
  }
})

test('a replay under an Idempotency-Key has null instead of the secrets', async () => {
  const { bearer } = await openAccount(url)
  const started = await enable(bearer, undefined, 'start-1')
  const replayed = await enable(bearer, undefined, 'start-1')
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(replayed.body, { status: 'pending', secret: null, uri: null })
  const code = codeOf(started.body['secret'], clock)
  const confirmed = await enable(bearer, code, 'confirm-1')
  assert.equal(confirmed.status, 200)
  const confirmed_again = await enable(bearer, code, 'confirm-1')
  assert.equal(confirmed_again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(confirmed_again.body, { status: 'enabled', recovery_codes: null })
})

test('neither secret nor recovery codes are in any table or log line in clear text', async () => {
  const { bearer } = await openAccount(url)
  const started = await enable(bearer, undefined, 'leak-1')
  const { secret } = started.body
  const code = codeOf(secret, clock)
  const { recovery_codes } = (await enable(bearer, code, 'leak-2')).body
  const places = [await wholeDatabase(runtime.db), kept.text()]
  const secrets = [secret, ...(recovery_codes as string[])]
  for (const text of places) {
    for (const each of [...secrets, ...secrets.map((word) => word.replace('-', ''))]) {
      assert(!text.includes(each))
    }
  }
})

test('only a session can turn it on, and that is audited', async () => {
  const { bearer, account_id } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  assertRefused(await enable(key), 403, 'credential_not_allowed')
  await turnOnTwoFactor(url, bearer, clock)
  const [entry, ...others] = await auditLog(url, bearer, '&action=totp.enabled')
  assert.deepEqual(others, [])
  assert.equal(entry?.operation, 'enable_2fa')
  assert.deepEqual(entry?.resource, { type: 'account', id: account_id })
})
