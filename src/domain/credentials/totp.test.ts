import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { systemRandom } from '#platform/runtime/random.ts'
import {
  generateRecoveryCodes,
  generateTotpSecret,
  normalizeRecoveryCode,
  totpStepOf,
  totpUri,
} from './totp.ts'

/** Test vectors of RFC 6238: its secret, and times with the last six digits of the code. */
const RFC_SECRET = Secret.fromUTF8('12345678901234567890').base32
const RFC_CODES: readonly [seconds: number, code: string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
]

test('codes match the test vectors of RFC 6238', () => {
  for (const [seconds, code] of RFC_CODES) {
    const step = totpStepOf(RFC_SECRET, code, new Date(seconds * 1_000))
    assert.equal(step, BigInt(Math.floor(seconds / 30)))
  }
})

test('a code is accepted from one step early to one step late', () => {
  const wall = new Date('2031-05-06T07:08:15.000Z')
  const present = BigInt(Math.floor(wall.getTime() / 30_000))
  for (const drift of [-2, -1, 0, 1, 2]) {
    const timestamp = wall.getTime() + drift * 30_000
    const code = new TOTP({ secret: Secret.fromBase32(RFC_SECRET) }).generate({ timestamp })
    const expected = Math.abs(drift) <= 1 ? present + BigInt(drift) : null
    assert.equal(totpStepOf(RFC_SECRET, code, wall), expected)
  }
})

test('a code may contain spaces; anything but six digits is wrong', () => {
  const wall = new Date(59_000)
  assert.equal(totpStepOf(RFC_SECRET, '287 082', wall), 1n)
  for (const code of ['', '28708', '2870820', '28708a', '-87082', '２８７０８２', '287082\n']) {
    assert.equal(totpStepOf(RFC_SECRET, code, wall), null)
  }
})

test('secrets have 160 bits, and the URI names the issuer and the email', () => {
  const secrets = new Set(Array.from({ length: 100 }, () => generateTotpSecret(systemRandom)))
  assert.equal(secrets.size, 100)
  for (const secret of secrets) assert.equal(Secret.fromBase32(secret).bytes.length, 20)
  const uri = new URL(totpUri(RFC_SECRET, 'ada+florin@example.com'))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(uri.searchParams.get('secret'), RFC_SECRET)
  assert.equal(decodeURIComponent(uri.pathname).endsWith('Florin:ada+florin@example.com'), true)
})

test('there are ten recovery codes without ambiguous characters, compared without case', () => {
  const codes = generateRecoveryCodes(systemRandom)
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) {
    assert.match(code, /^[a-hjkmnp-tv-z2-9]{5}-[a-hjkmnp-tv-z2-9]{5}$/)
    const typed = ` ${code.toUpperCase().replace('-', ' ')} `
    assert.equal(normalizeRecoveryCode(typed), normalizeRecoveryCode(code))
  }
})
