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

test('refuses an unknown ID', async () => {
  await assert.rejects(set('acct_unknown', {}), { code: 'not_found' })
})
