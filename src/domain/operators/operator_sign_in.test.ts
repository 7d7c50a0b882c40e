import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { codeOf, wrongCodeOf } from '#test/support/second_factor.ts'
import { operatorSignIn } from './operator_sign_in.ts'
import { createOperatorToken } from './operator_token.ts'

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const room = await openMoneyRoom()
const { db, dependencies } = room
const { random, keys, clock } = dependencies

async function openToken(name: string, totp_secret: string | null): Promise<string> {
  const made = { random, keys, now: clock.now(), livemode: false, days: 90, totp_secret }
  const { token } = await createOperatorToken(db, { name, role: 'risk' }, made)
  return token.open()
}

const signIn = async (bearer: string | null, totp_code: string) => {
  const header = (name: string) =>
    name === 'authorization' && bearer !== null ? `Bearer ${bearer}` : null
  const { value } = await room.operate((context) =>
    operatorSignIn({ ...context, request: { ...context.request, header } }, { totp_code }),
  )
  return value
}

test('a token and its code become a session of eight hours, and a code works once', async () => {
  const token = await openToken('Ada', SECRET)
  const code = codeOf(SECRET, clock)
  const { bearer, expires_at } = await signIn(token, code)
  assert.match(bearer, /^flos_op_/)
  assert.equal(Date.parse(expires_at) - clock.now().getTime(), 8 * 3_600_000)
  await assert.rejects(signIn(token, code), { code: 'totp_invalid' })
})

test('of concurrent sign-ins with one code exactly one succeeds', async () => {
  const token = await openToken('Grace', SECRET)
  const code = codeOf(SECRET, clock)
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => signIn(token, code)))
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('refuses a wrong code, a token without two-factor authentication and no token', async () => {
  const token = await openToken('Edsger', SECRET)
  await assert.rejects(signIn(token, wrongCodeOf(SECRET, clock)), { code: 'totp_invalid' })
  const plain = await openToken('Barbara', null)
  await assert.rejects(signIn(plain, codeOf(SECRET, clock)), { code: 'totp_not_enabled' })
  await assert.rejects(signIn('flo_test_unknown', '123456'), { code: 'invalid_token' })
  await assert.rejects(signIn(null, '123456'), { status: 401 })
})
