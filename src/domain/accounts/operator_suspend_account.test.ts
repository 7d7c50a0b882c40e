import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorSuspendAccount } from './operator_suspend_account.ts'

const room = await openMoneyRoom()
const suspend = (id: string) => room.operate((context) => operatorSuspendAccount(context, { id }))

test('a suspension is audited and makes every node drop the cached credentials', async () => {
  const id = await room.openAccount()
  const { value, entries, changed_accounts } = await suspend(id)
  assert.equal(value.status, 'suspended')
  assert.deepEqual(entries, [{ action: 'suspend_account', resource: { type: 'account', id } }])
  assert.deepEqual(changed_accounts, [id])
})

test('the balance stays, and a second suspension changes nothing', async () => {
  const id = await room.openAccount(40)
  await suspend(id)
  assert.equal((await suspend(id)).value.status, 'suspended')
  const purses = await room.db.rows<{ balance_micros: bigint }>(
    `select balance_micros from purses where account_id = $1 and kind = 'treasury'`,
    [id],
  )
  assert.deepEqual(purses, [{ balance_micros: 40_000_000n }])
})

test('refuses an unknown ID', async () => {
  await assert.rejects(suspend('acct_unknown'), { code: 'not_found' })
})
