import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused } from '#test/support/calls.ts'
import { type Reply, send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

const HOUR_S = 3_600

const { url, runtime } = await startTestService({
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_cooldown_hours: 24 }) },
})
const { db, clock } = runtime

const mint = (bearer: string, body: object = {}): Promise<Reply> =>
  send(url, 'POST', '/v1/api_keys', { bearer, body })

test('a stolen session cannot create an API key without the second factor', async () => {
  const { bearer } = await openAccount(url)
  const { secret, recovery_codes } = await turnOnTwoFactor(url, bearer, clock)
  assertRefused(await mint(bearer), 401, 'totp_required')
  const wrong = { totp_code: wrongCodeOf(secret, clock) }
  assertRefused(await mint(bearer, wrong), 401, 'totp_invalid')
  const right = { totp_code: codeOf(secret, clock, 1) }
  assert.equal((await mint(bearer, right)).status, 201)
  assertRefused(await mint(bearer, right), 401, 'totp_invalid')
  const recovery = { totp_code: String(recovery_codes[0]) }
  const { status, body } = await mint(bearer, recovery)
  assert.equal(status, 201)
  assert.equal((await mint(String(body['key']))).status, 201, 'a key has no second factor to send')
})

test('ten wrong codes lock the creation of API keys', async () => {
  const { bearer } = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, bearer, clock)
  const wrong = { totp_code: wrongCodeOf(secret, clock) }
  const guesses = await Promise.all(Array.from({ length: 12 }, () => mint(bearer, wrong)))
  const locked = guesses.filter(({ body }) => body['error'] === 'too_many_attempts')
  assert.equal(locked.length, 2)
  const right = { totp_code: codeOf(secret, clock, 1) }
  assertRefused(await mint(bearer, right), 429, 'too_many_attempts')
})

test('a new API key, and a key it creates, cannot withdraw until the cool-down is over', async () => {
  const { account_id, bearer } = await openAccount(url)
  await fundTreasury(db, account_id, 100)
  const old = await createKey(url, bearer)
  const withdraw = (key: string) => askToWithdraw({ url, bearer: key }, { amount_usd: 20 })
  assertRefused(await withdraw(old.key), 403, 'policy_denied')
  await advance(url, bearer, 24 * HOUR_S - 60)
  assertRefused(await withdraw(old.key), 403, 'policy_denied')
  await advance(url, bearer, 61)
  assert.equal((await withdraw(old.key)).status, 201)
  const minted = await createKey(url, old.key)
  assertRefused(await withdraw(minted.key), 403, 'policy_denied')
})
