import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AddressScreener } from '#rails/screening/screening.ts'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf } from '#test/support/topups.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

/** A screening service that takes its time: each request waits until the test lets it go on. */
const waiting: (() => void)[] = []
const screener: AddressScreener = {
  screen: async () => {
    await new Promise<void>((go) => waiting.push(go))
    return { decision: 'allow', source: 'slow', list_version: '1' }
  },
}
const { url, runtime, database_url, data_dir } = await startTestService({
  dependencies: { screener },
})
const { db, clock } = runtime
const cooling = await startTestService({
  database_url,
  data_dir,
  dependencies: { screener },
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_cooldown_hours: 24 }) },
})

/** Asks for a withdrawal and, while its address is being screened, does something else. */
async function duringScreening(
  bearer: string,
  action: () => Promise<unknown>,
  at = url,
): Promise<Reply> {
  const asked = askToWithdraw({ url: at, bearer }, { amount_usd: 20 })
  assert(await eventually(async () => waiting.length > 0, { within_ms: 10_000 }))
  await action()
  waiting.pop()?.()
  return asked
}

async function openFunded(): Promise<Person> {
  const person = await openAccount(url)
  await fundTreasury(db, person.account_id, 100)
  return person
}

async function assertNothingLeft({ account_id }: Person): Promise<void> {
  const rows = await db.rows('select 1 from withdrawals where account_id = $1', [account_id])
  assert.equal(rows.length, 0)
  await assertBooksSound(db)
}

test('a password that is changed during the screening starts the cool-down for it', async () => {
  const person = await openFunded()
  const { bearer } = person
  const body = { current_password: PASSWORD, password: 'another good password' }
  const change = async () => {
    const changed = await send(cooling.url, 'PATCH', '/v1/accounts/me', { bearer, body })
    assert.equal(changed.status, 200, changed.text)
  }
  assertRefused(await duringScreening(bearer, change, cooling.url), 403, 'policy_denied')
  assert.equal((await balanceOf(url, bearer)).balance_usd, 100)
  await assertNothingLeft(person)
})

test('two-factor that is turned on during the screening asks the session for a code', async () => {
  const person = await openFunded()
  const reply = await duringScreening(person.bearer, () =>
    turnOnTwoFactor(url, person.bearer, clock),
  )
  assertRefused(reply, 401, 'totp_required')
  await assertNothingLeft(person)
})

test('a key that is revoked during the screening withdraws nothing', async () => {
  const person = await openFunded()
  const { key, id } = await createKey(url, person.bearer)
  const reply = await duringScreening(key, async () => {
    const revoked = await send(url, 'DELETE', `/v1/api_keys/${id}`, { bearer: person.bearer })
    assert.equal(revoked.status, 204, revoked.text)
  })
  assertRefused(reply, 401, 'token_revoked')
  await assertNothingLeft(person)
})

test('a session that signs out during the screening withdraws nothing', async () => {
  const person = await openFunded()
  const reply = await duringScreening(person.bearer, async () => {
    const { status } = await send(url, 'DELETE', '/v1/sessions', { bearer: person.bearer })
    assert.equal(status, 204)
  })
  assertRefused(reply, 401, 'token_revoked')
  await assertNothingLeft(person)
})

test('an account that is suspended during the screening withdraws nothing', async () => {
  const person = await openFunded()
  const reply = await duringScreening(person.bearer, () =>
    operate(url, 'POST', `/accounts/${person.account_id}/suspend`),
  )
  assertRefused(reply, 403, 'account_suspended')
  await assertNothingLeft(person)
})
