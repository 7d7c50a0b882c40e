import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorGetAccount } from './operator_get_account.ts'
import { operatorSetAccountLimits } from './operator_set_account_limits.ts'

const room = await openMoneyRoom()
const get = async (id: string) =>
  (await room.operate((context) => operatorGetAccount(context, { id }))).value

test('shows the limits that were set for the account beside those in effect', async () => {
  const id = await room.openAccount()
  const defaults = room.dependencies.settings.spend_limits
  assert.deepEqual((await get(id)).spend_limits, defaults)
  await room.operate((context) => operatorSetAccountLimits(context, { id, load_max_usd: 7 }))
  const { own_limits, spend_limits } = await get(id)
  assert.deepEqual(own_limits, { load_max_usd: 7 })
  assert.deepEqual(spend_limits, { ...defaults, load_max_usd: 7 })
})

test('refuses an unknown ID', async () => {
  await assert.rejects(get('acct_unknown'), { code: 'not_found', message: 'No such account.' })
})
