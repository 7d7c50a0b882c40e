import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorReinstateAccount } from './operator_reinstate_account.ts'
import { operatorSuspendAccount } from './operator_suspend_account.ts'

const room = await openMoneyRoom()
const reinstate = (id: string) =>
  room.operate((context) => operatorReinstateAccount(context, { id }))

test('a suspended account is active again, audited, and every node drops the cached credentials', async () => {
  const id = await room.openAccount()
  await room.operate((context) => operatorSuspendAccount(context, { id }))
  const { value, entries, changed_accounts } = await reinstate(id)
  assert.equal(value.status, 'active')
  assert.deepEqual(entries, [{ action: 'reinstate_account', resource: { type: 'account', id } }])
  assert.deepEqual(changed_accounts, [id])
})

test('an active account stays active', async () => {
  assert.equal((await reinstate(await room.openAccount())).value.status, 'active')
})

test('refuses an unknown ID', async () => {
  await assert.rejects(reinstate('acct_unknown'), { code: 'not_found' })
})
