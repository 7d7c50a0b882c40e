import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

const BALANCE_USD = 1_000
const DAILY_USD = 300

const { url, runtime } = await startTestService({
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_cooldown_hours: 24 }) },
})
const { db, clock } = runtime

async function openVictim(): Promise<Person> {
  const person = await openAccount(url)
  await fundTreasury(db, person.account_id, BALANCE_USD)
  await db.run('update accounts set spend_limits = $2 where id = $1', [
    person.account_id,
    { withdrawal_daily_usd: DAILY_USD },
  ])
  return person
}

/** What a thief gets out with a burst of withdrawals to an address of his own. */
async function stealWith({ bearer }: Person): Promise<number> {
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => askToWithdraw({ url, bearer }, { amount_usd: 50 })),
  )
  return replies.filter(({ status }) => status === 201).length * 50
}

test('a stolen session takes no more than the daily limit in a day', async (t) => {
  const victim = await openVictim()
  // The session itself is older than the cool-down.
  await advance(url, victim.bearer, 2 * 86_400)
  assert.equal(await stealWith(victim), DAILY_USD)
  assert.equal(await stealWith(victim), 0)
  await advance(url, victim.bearer, 86_400)
  assert.equal(await stealWith(victim), DAILY_USD)
  await assertBooksSound(db)
  t.diagnostic(`${DAILY_USD} of ${BALANCE_USD} USD in the first day`)
})

test('with two-factor on, a stolen session takes nothing', async () => {
  const victim = await openVictim()
  await turnOnTwoFactor(url, victim.bearer, clock)
  await advance(url, victim.bearer, 2 * 86_400)
  assertRefused(
    await askToWithdraw({ url, bearer: victim.bearer }, { amount_usd: 50 }),
    401,
    'totp_required',
  )
  assert.equal(await stealWith(victim), 0)
})

test('a thief who changes the password or the email has to wait a day', async () => {
  const changes = [
    { current_password: PASSWORD, password: 'the password of a thief' },
    { current_password: PASSWORD, email: `thief_${Date.now()}@example.com` },
  ]
  for (const body of changes) {
    const victim = await openVictim()
    await advance(url, victim.bearer, 2 * 86_400)
    const change = (sent: object) =>
      send(url, 'PATCH', '/v1/accounts/me', { bearer: victim.bearer, body: sent })
    const { current_password: _, ...without_password } = body
    assert.notEqual((await change(without_password)).status, 200, 'the password is asked for')
    assert.equal((await change(body)).status, 200)
    assert.equal(await stealWith(victim), 0)
  }
})
