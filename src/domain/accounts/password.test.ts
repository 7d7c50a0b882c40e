import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '#contract/problem.ts'
import { hashPassword, isPasswordCorrect, requireStrongPassword } from './password.ts'

const EMAIL = 'ada.lovelace@example.com'
/** The default. */
const cost = { password_hash_mib: 19 }
const weak = ({ code, status, details }: Problem) =>
  code === 'weak_password' && status === 422 && details?.[0]?.field === 'password'

test('a password has at least eight characters', () => {
  assert.throws(() => requireStrongPassword('7 signs', EMAIL), weak)
  requireStrongPassword('8 signs!', EMAIL)
})

test('common passwords are refused in any case', () => {
  for (const password of [
    'password',
    'Passw0rd',
    'password123',
    'PassWord123',
    'QWERTYUIOP',
    '1234567890',
    EMAIL,
  ]) {
    assert.throws(() => requireStrongPassword(password, EMAIL), weak)
  }
  for (const password of ['aaaaaaaaaaaa', 'abababababab', 'AaAaAaAaAaAa']) {
    assert.throws(() => requireStrongPassword(password, EMAIL), weak)
  }
})

test('a password is judged in the form that is hashed', () => {
  const fullwidth = '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44'
  assert.throws(() => requireStrongPassword(fullwidth, EMAIL), weak)
  // Eight code units that are four characters, and one that becomes 18.
  assert.throws(() => requireStrongPassword('a\u0301e\u0301i\u0301o\u0301', EMAIL), weak)
  assert.throws(() => requireStrongPassword('\ufdfa', EMAIL), weak)
})

test('a hash is argon2id, differs each time and only matches its password', async () => {
  const [first, second] = await Promise.all([
    hashPassword('one password', cost),
    hashPassword('one password', cost),
  ])
  assert.match(String(first), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(first, second)
  assert.equal(await isPasswordCorrect('one password', first, cost), true)
  assert.equal(await isPasswordCorrect('one passwore', first, cost), false)
  assert.equal(await isPasswordCorrect('', first, cost), false)
})

test('different Unicode forms of the same characters are the same password', async () => {
  const composed = 'caf\u00e9 au lait'
  const decomposed = 'cafe\u0301 au lait'
  assert.equal(await isPasswordCorrect(decomposed, await hashPassword(composed, cost), cost), true)
})

test('no password matches a missing account, not even the dummy one', async () => {
  assert.equal(await isPasswordCorrect('nobody has this password', undefined, cost), false)
  assert.equal(await isPasswordCorrect('anything else', undefined, cost), false)
})

test('a full queue returns 503, and the queue recovers', async () => {
  const cheap = { password_hash_mib: 1 }
  const results = await Promise.allSettled(
    Array.from({ length: 230 }, () => isPasswordCorrect('x', undefined, cheap)),
  )
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 230 - 202)
  for (const result of refused) {
    const { reason } = result as PromiseRejectedResult
    assert.equal(reason.code, 'service_unavailable')
    assert(reason.retry_after_s > 0)
  }
  assert.equal(await isPasswordCorrect('x', undefined, cheap), false)
})
