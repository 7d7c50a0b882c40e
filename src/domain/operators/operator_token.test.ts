import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '#kernel/secret.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { codeOf } from '#test/support/second_factor.ts'
import {
  createOperatorToken,
  findOperatorTokens,
  operatorOf,
  revokeOperatorToken,
  setOperatorTotp,
  signInOperator,
} from './operator_token.ts'

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const OTHER_SECRET = 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'
const DAY_MS = 24 * 3_600_000

const room = await openMoneyRoom()
const { db, dependencies, clock } = room
const { random, keys, settings } = dependencies

async function openToken(name: string, { days = 90, totp_secret = null as string | null } = {}) {
  const input = { random, keys, now: clock.now(), livemode: false, days, totp_secret }
  const { id, token } = await createOperatorToken(db, { name, role: 'support' }, input)
  return { id, token: token.open() }
}

const operate = (bearer: string | null, first: Partial<typeof settings> = {}) =>
  operatorOf(bearer, { db, keys, settings: { ...settings, ...first }, now: clock.now() })
const signIn = (token: string, totp_code: string) =>
  signInOperator(token, totp_code, { ...dependencies, now: clock.now() })
const codeNow = (secret: string) => codeOf(secret, dependencies.clock)
const rowOf = async (id: string) => (await findOperatorTokens(db)).find((row) => row.id === id)

test('a token is its operator, with name and role, and is stored only as a hash', async () => {
  const { id, token } = await openToken('Ada')
  assert.match(token, /^flo_test_[0-9a-f]{64}$/)
  assert.deepEqual(await operate(token), { id, name: 'Ada', role: 'support' })
  const rows = await db.rows<{ text: string }>('select t::text as text from operator_tokens t')
  for (const { text } of rows) assert(!text.includes(token.slice('flo_test_'.length)))
})

test('a name that is not one readable line is refused', async () => {
  await openToken('Zoë O’Neill (night shift)')
  const hidden = ['Zoë\u200b', 'Zo\u202eë', 'Zoë\nactive', 'Zoë\t', 'Zoë\u00a0Q']
  for (const name of ['', ' ', ' Zoë', 'Zoë ', 'Zoë  Q', 'z'.repeat(101), ...hidden]) {
    await assert.rejects(openToken(name), { code: 'invalid_request' }, JSON.stringify(name))
  }
  await openToken('z'.repeat(100))
})

test('a missing, unknown or changed token is refused', async () => {
  const { token } = await openToken('Alan')
  await assert.rejects(operate(null), { code: 'missing_token' })
  await assert.rejects(operate('flo_test_unknown'), { code: 'invalid_token' })
  await assert.rejects(operate(token.toUpperCase()), { code: 'invalid_token' })
})

test('a token is valid until its last day, and not a millisecond longer', async () => {
  const { token } = await openToken('Grace', { days: 30 })
  clock.pass(30 * DAY_MS - 1)
  await operate(token)
  clock.pass(1)
  await assert.rejects(operate(token), { code: 'token_expired' })
})

test('a revoked token is refused immediately, and only its name is free again', async () => {
  const { token } = await openToken('Edsger')
  await assert.rejects(openToken('Edsger'), { code: 'invalid_request' })
  assert.equal(await revokeOperatorToken(db, 'Edsger', clock.now()), true)
  await assert.rejects(operate(token), { code: 'token_revoked' })
  assert.equal(await revokeOperatorToken(db, 'Edsger', clock.now()), false)
  const next = await openToken('Edsger')
  assert.equal((await operate(next.token)).id, next.id)
  await assert.rejects(operate(token), { code: 'token_revoked' })
})

test('a token with two-factor authentication opens sessions and nothing else', async () => {
  const { id, token } = await openToken('Barbara', { totp_secret: SECRET })
  await assert.rejects(operate(token), { code: 'totp_required' })
  const { bearer } = await signIn(token, codeNow(SECRET))
  assert.equal((await operate(bearer)).id, id)
  clock.pass(8 * 3_600_000)
  await assert.rejects(operate(bearer), { code: 'token_expired' })
})

test('a session ends with its token, and a forged one never begins', async () => {
  const { id, token } = await openToken('Radia', { totp_secret: SECRET })
  const { bearer } = await signIn(token, codeNow(SECRET))
  const later = bearer.replace(/_(\d+)_/, (_, ms) => `_${Number(ms) + DAY_MS}_`)
  await assert.rejects(operate(later), { code: 'invalid_token' })
  await revokeOperatorToken(db, id, clock.now())
  await assert.rejects(operate(bearer), { code: 'token_revoked' })
})

test('a new authenticator secret ends the old one and the sessions opened with it', async () => {
  const { token } = await openToken('Hedy', { totp_secret: SECRET })
  const { bearer } = await signIn(token, codeNow(SECRET))
  clock.pass(60_000)
  const change = { keys, now: clock.now(), totp_secret: OTHER_SECRET }
  assert.deepEqual(await setOperatorTotp(db, 'Hedy', change), { name: 'Hedy' })
  await assert.rejects(operate(bearer), { code: 'token_expired' })
  await assert.rejects(signIn(token, codeNow(SECRET)), { code: 'totp_invalid' })
  await operate((await signIn(token, codeNow(OTHER_SECRET))).bearer)
  assert.equal(await setOperatorTotp(db, 'nobody', change), null)
})

test('the last use of a token is noted once a minute', async () => {
  const { id, token } = await openToken('Katherine')
  const first_at = clock.now()
  await operate(token)
  clock.pass(59_999)
  await operate(token)
  assert.deepEqual((await rowOf(id))?.last_used_at, first_at)
  clock.pass(1)
  await operate(token)
  assert.deepEqual((await rowOf(id))?.last_used_at, clock.now())
})

test('the token of the settings is an admin until it expires, counted from its first use', async () => {
  const first = { operator_token: new Secret('flo_setup'), first_operator_token_days: 7 }
  clock.pass(DAY_MS)
  assert.equal((await operate('flo_setup', first)).role, 'admin')
  clock.pass(7 * DAY_MS - 1)
  await operate('flo_setup', first)
  clock.pass(1)
  await assert.rejects(operate('flo_setup', first), { code: 'token_expired' })
  await operate('flo_setup', { ...first, first_operator_token_days: null })
  await assert.rejects(operate('flo_setup'), { code: 'invalid_token' })
})
