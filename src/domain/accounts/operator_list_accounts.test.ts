import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorListAccounts } from './operator_list_accounts.ts'
import { operatorSuspendAccount } from './operator_suspend_account.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListAccounts>[1]) =>
  (await room.operate((context) => operatorListAccounts(context, input))).value
const idsOf = ({ data }: Awaited<ReturnType<typeof list>>) => data.map(({ id }) => id)
const ids = [await room.openAccount(), await room.openAccount(), await room.openAccount()]
const [first = '', second = '', third = ''] = ids

test('lists all accounts, newest first, page by page', async () => {
  const page = await list({ limit: 2 })
  assert.deepEqual([idsOf(page), page.has_more], [[third, second], true])
  const cursor = page.next_cursor ?? ''
  assert.deepEqual(idsOf(await list({ limit: 2, cursor })), [first])
})

test('finds an account by its ID, or by its whole email in any case', async () => {
  assert.deepEqual(idsOf(await list({ account_id: second })), [second])
  assert.deepEqual(idsOf(await list({ email: `${second}@EXAMPLE.com` })), [second])
  assert.deepEqual(idsOf(await list({ email: '@example.com' })), [])
})

test('lists suspended accounts apart', async () => {
  await room.operate((context) => operatorSuspendAccount(context, { id: first }))
  assert.deepEqual(idsOf(await list({ status: 'suspended' })), [first])
  assert.deepEqual(idsOf(await list({ status: 'active' })), [third, second])
})
