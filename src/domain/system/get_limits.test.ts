import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SystemLimits } from '#contract/system.ts'
import { assertRefused } from '#test/support/calls.ts'
import { manualClock } from '#test/support/clock.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const clock = manualClock()
const { url, runtime } = await startTestService({
  env: { FLORIN_RATE_PROFILE: 'default' },
  dependencies: { clock },
})

async function limitsOf(bearer: string, at = url): Promise<SystemLimits> {
  const { status, body, text } = await send(at, 'GET', '/v1/system/limits', { bearer })
  assert.equal(status, 200, text)
  return body as unknown as SystemLimits
}

const SCOPES = [
  'account:read',
  'balance:read',
  'topup:create',
  'topup:read',
  'card:read',
  'card:issue',
  'card:control',
  'card:reveal_pan',
  'transaction:read',
  'withdrawal:create',
  'withdrawal:read',
  'dispute:write',
  'webhook:write',
  'system:read',
]

test('the numbers match the contract', async () => {
  const { bearer } = await openAccount(url)
  const { rate_limits, spend_limits, programme } = await limitsOf(bearer)
  assert.deepEqual(rate_limits, {
    burst_per_second: 60,
    sustained_per_minute: 1000,
    remaining: 999,
    resets_at: new Date(clock.wall().getTime() + 60).toISOString(),
    max_body_bytes: 26214400,
    max_evidence_bytes: 104857600,
  })
  assert.deepEqual(spend_limits, {
    deposit_min_usd: 1,
    topup_min_usd: 5,
    topup_max_usd: 50000,
    load_min_usd: 1,
    load_max_usd: 10000,
    card_balance_max_usd: 20000,
    cards_max: 100,
    per_transaction_max_usd: 10000,
    daily_max_usd: 20000,
    monthly_max_usd: 100000,
    withdrawal_min_usd: 10,
    withdrawal_max_usd: 25000,
    withdrawal_daily_usd: 50000,
    withdrawal_fee_usd: 1,
    withdrawal_used_today_usd: 0,
  })
  assert.deepEqual(programme, {
    bins: [
      { bin: '400000', brand: 'visa', types: ['virtual', 'physical'], default: true },
      { bin: '555555', brand: 'mastercard', types: ['virtual', 'physical'], default: false },
    ],
  })
})

test('a session and a key have all fourteen scopes and every card, with their own id', async () => {
  const { bearer } = await openAccount(url)
  const { id, key } = await createKey(url, bearer)
  const by_session = await limitsOf(bearer)
  assert.equal(by_session.credential.type, 'session')
  assert.match(by_session.credential.id, /^sess_/)
  const by_key = await limitsOf(key)
  assert.deepEqual(by_key.credential, { type: 'api_key', id, card_ids: null })
  for (const { scopes } of [by_session, by_key])
    assert.deepEqual(scopes.toSorted(), SCOPES.toSorted())
})

test('remaining decreases with each call and is refilled over time', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  const first = (await limitsOf(key)).rate_limits
  for (let at = 0; at < 4; at += 1) await send(url, 'GET', '/v1/accounts/me', { bearer: key })
  const later = (await limitsOf(key)).rate_limits
  assert.equal(later.remaining, first.remaining - 5)
  assert(later.resets_at > first.resets_at)
  const reply = await send(url, 'GET', '/v1/system/limits', { bearer: key })
  const { remaining } = (reply.body as unknown as SystemLimits).rate_limits
  assert.match(String(reply.headers.get('ratelimit')), new RegExp(`^"sustained";r=${remaining};`))
  clock.advance(60_000)
  assert.equal((await limitsOf(key)).rate_limits.remaining, 999)
})

test("the conservative profile has the specification's second pair of limits", async () => {
  const env = { FLORIN_RATE_PROFILE: 'conservative' }
  const conservative = await startTestService({ env, dependencies: { clock } })
  const { bearer } = await openAccount(conservative.url)
  const { rate_limits } = await limitsOf(bearer, conservative.url)
  assert.equal(rate_limits.burst_per_second, 100)
  assert.equal(rate_limits.sustained_per_minute, 600)
  assert.equal(rate_limits.remaining, 599)
})

test('spend limits are configurable, also for one account', async () => {
  const env = { FLORIN_SPEND_LIMITS: '{"load_max_usd": 77, "withdrawal_fee_usd": 0.5}' }
  const other = await startTestService({ env })
  const ada = await openAccount(other.url)
  const bob = await openAccount(other.url)
  await other.runtime.db.run('update accounts set spend_limits = $2 where id = $1', [
    ada.account_id,
    '{"load_max_usd": 11}',
  ])
  const of_ada = (await limitsOf(ada.bearer, other.url)).spend_limits
  const of_bob = (await limitsOf(bob.bearer, other.url)).spend_limits
  assert.deepEqual([of_ada.load_max_usd, of_ada.withdrawal_fee_usd], [11, 0.5])
  assert.deepEqual([of_bob.load_max_usd, of_bob.withdrawal_fee_usd], [77, 0.5])
})

test('one account can have the other rate profile', async () => {
  const { bearer, account_id } = await openAccount(url)
  await runtime.db.run(`update accounts set rate_profile = 'conservative' where id = $1`, [
    account_id,
  ])
  const { rate_limits } = await limitsOf(bearer)
  assert.deepEqual([rate_limits.burst_per_second, rate_limits.sustained_per_minute], [100, 600])
})

test('a missing bearer and parameters are refused', async () => {
  const { bearer } = await openAccount(url)
  assertRefused(await send(url, 'GET', '/v1/system/limits'), 401, 'missing_token')
  const reply = await send(url, 'GET', '/v1/system/limits?full=true', { bearer })
  assertRefused(reply, 400, 'unknown_parameter')
})
