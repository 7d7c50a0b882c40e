import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, mistype } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()

test('a new account is active and empty, without two-factor authentication', async () => {
  const person = await openAccount(url)
  const { status, body } = await send(url, 'GET', '/v1/accounts/me', { bearer: person.bearer })
  assert.equal(status, 200)
  const { created_at, updated_at, ...rest } = body
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(updated_at, created_at)
  assert.deepEqual(rest, {
    id: person.account_id,
    email: person.email,
    status: 'active',
    balance_usd: 0,
    owed_usd: 0,
    two_factor_enabled: false,
    two_factor_status: 'disabled',
    notifications: {
      topup_confirmed: true,
      topup_expired: true,
      transaction_authorized: false,
      transaction_declined: true,
      card_frozen: true,
      dispute_updates: true,
      withdrawal_broadcasted: true,
      system_maintenance: true,
      security_alerts: true,
      low_balance_threshold_usd: null,
    },
    cards_count: { active: 0, frozen: 0, cancelled: 0 },
    livemode: false,
    version: 1,
  })
})

test('a session and a key return the same account, and only their own', async () => {
  const ada = await openAccount(url)
  const bob = await openAccount(url)
  const { key } = await createKey(url, ada.bearer)
  const bearers = [ada.bearer, bob.bearer, key]
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      send(url, 'GET', '/v1/accounts/me', { bearer: bearers[at % 3] }),
    ),
  )
  for (const [at, { body }] of replies.entries()) {
    assert.equal(body['id'], at % 3 === 1 ? bob.account_id : ada.account_id)
  }
})

test('a missing or mistyped bearer and an unknown parameter are refused', async () => {
  const { bearer } = await openAccount(url)
  assertRefused(await send(url, 'GET', '/v1/accounts/me'), 401, 'missing_token')
  for (const wrong of [mistype(bearer), 'nonsense', bearer.toUpperCase()]) {
    const reply = await send(url, 'GET', '/v1/accounts/me', { bearer: wrong })
    assertRefused(reply, 401, 'invalid_token')
  }
  const basic = await send(url, 'GET', '/v1/accounts/me', {
    headers: { authorization: `Basic ${bearer}` },
  })
  assertRefused(basic, 401, 'invalid_token')
  const unknown = await send(url, 'GET', '/v1/accounts/me?expand=cards', { bearer })
  assertRefused(unknown, 400, 'unknown_parameter')
})
