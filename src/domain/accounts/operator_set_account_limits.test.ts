import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorSetAccountLimits } from './operator_set_account_limits.ts'

const room = await openMoneyRoom()
type Changes = Omit<Parameters<typeof operatorSetAccountLimits>[1], 'id'>
const set = (id: string, changes: Changes) =>
  room.operate((context) => operatorSetAccountLimits(context, { id, ...changes }))

test('a limit is set for one account only, and a limit that is not sent stays', async () => {
  const [id, other] = [await room.openAccount(), await room.openAccount()]
  await set(id, { load_max_usd: 5 })
  const { value, entries, changed_accounts } = await set(id, { cards_max: 2 })
  assert.deepEqual(value.own_limits, { load_max_usd: 5, cards_max: 2 })
  assert.deepEqual(entries, [{ action: 'set_account_limits', resource: { type: 'account', id } }])
  assert.deepEqual(changed_accounts, [id])
  assert.deepEqual((await set(other, {})).value.own_limits, {})
})

test('null restores the default of a limit and of the rate profile', async () => {
  const id = await room.openAccount()
  const { value } = await set(id, { load_max_usd: 5, rate_profile: 'conservative' })
  assert.equal(value.rate_profile, 'conservative')
  assert.equal((await set(id, { cards_max: 1 })).value.rate_profile, 'conservative')
  const restored = (await set(id, { load_max_usd: null, rate_profile: null })).value
  assert.deepEqual([restored.own_limits, restored.rate_profile], [{ cards_max: 1 }, null])
  const defaults = room.dependencies.settings.spend_limits
  assert.equal(restored.spend_limits.load_max_usd, defaults.load_max_usd)
})

test('of concurrent changes of different limits none is lost', async () => {
  const id = await room.openAccount()
  await Promise.all([set(id, { load_max_usd: 5 }), set(id, { cards_max: 2 })])
  assert.deepEqual((await set(id, {})).value.own_limits, { load_max_usd: 5, cards_max: 2 })
})

test('refuses a minimum above its maximum, also if the other one is stored or a default', async () => {
  const id = await room.openAccount()
  const refused = (changes: Changes, message: string) =>
    assert.rejects(set(id, changes), { code: 'amount_out_of_range', message })
  await refused(
    { topup_min_usd: 100, topup_max_usd: 50 },
    'topup_min_usd must be at most $50.00 (topup_max_usd).',
  )
  await refused(
    { withdrawal_max_usd: 9.99 },
    'withdrawal_max_usd must be 0, or at least $10.00 (withdrawal_min_usd).',
  )
  await set(id, { load_max_usd: 50 })
  await refused({ load_min_usd: 50.01 }, 'load_min_usd must be at most $50.00 (load_max_usd).')
  await set(id, { load_min_usd: 20 })
  await refused({ load_max_usd: 10 }, 'load_max_usd must be 0, or at least $20.00 (load_min_usd).')
  assert.deepEqual((await set(id, {})).value.own_limits, { load_max_usd: 50, load_min_usd: 20 })
})

test('refuses to restore a default that conflicts with a stored limit', async () => {
  const id = await room.openAccount()
  await set(id, { topup_min_usd: 1, topup_max_usd: 2 })
  await assert.rejects(set(id, { topup_min_usd: null }), {
    code: 'amount_out_of_range',
    message: 'topup_min_usd must be at most $2.00 (topup_max_usd).',
  })
  const { value } = await set(id, { topup_min_usd: null, topup_max_usd: null })
  assert.deepEqual(value.own_limits, {})
})

test('accepts a minimum that equals its maximum, and a maximum of 0, which blocks', async () => {
  const id = await room.openAccount()
  await set(id, { topup_min_usd: 7, topup_max_usd: 7 })
  await set(id, { load_max_usd: 0, withdrawal_max_usd: 0 })
  await set(id, { load_min_usd: 3 })
})

test('a conflict from before does not stop a change of other limits', async () => {
  const id = await room.openAccount()
  await room.dependencies.db.run('update accounts set spend_limits = $2 where id = $1', [
    id,
    JSON.stringify({ load_min_usd: 9, load_max_usd: 5 }),
  ])
  const { value } = await set(id, { cards_max: 2 })
  assert.deepEqual(value.own_limits, { load_min_usd: 9, load_max_usd: 5, cards_max: 2 })
})

test('refuses an unknown ID', async () => {
  await assert.rejects(set('acct_unknown', {}), { code: 'not_found' })
})
