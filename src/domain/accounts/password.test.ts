import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword, isPassword, requireStrongPassword } from './password.ts'

const EMAIL = 'ada.lovelace@example.com'
const weak = { code: 'weak_password', status: 422 }

test('a password has eight characters at least', () => {
  assert.throws(() => requireStrongPassword('7 signs', EMAIL), weak)
  requireStrongPassword('8 signs!', EMAIL)
})

test('what everybody tries first is refused, whatever its capitals', () => {
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

test('a hash is argon2id, differs each time, and knows its password only', async () => {
  const [first, second] = await Promise.all([
    hashPassword('one password'),
    hashPassword('one password'),
  ])
  assert.match(String(first), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(first, second)
  assert.equal(await isPassword('one password', first), true)
  assert.equal(await isPassword('one passwore', first), false)
  assert.equal(await isPassword('', first), false)
})

test('the same letters typed on another keyboard are the same password', async () => {
  const composed = 'caf\u00e9 au lait'
  const decomposed = 'cafe\u0301 au lait'
  assert.equal(await isPassword(decomposed, await hashPassword(composed)), true)
})

test('nobody has a password, not even the one that stands in for it', async () => {
  assert.equal(await isPassword('nobody has this password', undefined), false)
  assert.equal(await isPassword('anything else', undefined), false)
})

test('beyond what can wait the answer is to come back later, and the queue recovers', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 230 }, () => isPassword('x', undefined)),
  )
  const refused = results.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 230 - 202)
  for (const result of refused) {
    const { reason } = result as PromiseRejectedResult
    assert.equal(reason.code, 'service_unavailable')
    assert(reason.retry_after_s > 0)
  }
  assert.equal(await isPassword('x', undefined), false)
})
