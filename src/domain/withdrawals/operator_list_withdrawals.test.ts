import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal } from '#test/support/withdrawal_room.ts'
import { operatorListWithdrawals } from './operator_list_withdrawals.ts'

const room = await openMoneyRoom()

test('lists withdrawals by status, by account and in review', async () => {
  const one = await openWithdrawal(room, { step: 'review' })
  await openWithdrawal(room, { account_id: one.account_id })
  const list = async (filter: object) => {
    const input = { account_id: one.account_id, ...filter }
    return (await room.operate((context) => operatorListWithdrawals(context, input))).value.data
  }
  assert.equal((await list({})).length, 2)
  assert.equal((await list({ status: 'pending' })).length, 2)
  assert.equal((await list({ status: 'failed' })).length, 0)
  const in_review = await list({ status: 'review' })
  assert.deepEqual(
    in_review.map(({ id, in_review: is_in_review }) => [id, is_in_review]),
    [[one.id, true]],
  )
})
