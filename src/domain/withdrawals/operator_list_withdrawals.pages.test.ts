import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal } from '#test/support/withdrawal_room.ts'
import { operatorListWithdrawals } from './operator_list_withdrawals.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListWithdrawals>[1]) =>
  (await room.operate((context) => operatorListWithdrawals(context, input))).value

test('withdrawals of all accounts are listed newest first, each with the email of its owner', async () => {
  const rows = []
  for (let at = 0; at < 3; at += 1) {
    rows.push(await openWithdrawal(room))
    room.clock.pass(1_000)
  }
  const { data, has_more } = await list({})
  assert.deepEqual(
    data.map(({ id, account_email }) => [id, account_email]),
    rows.toReversed().map(({ id, account_id }) => [id, `${account_id}@example.com`]),
  )
  assert.equal(has_more, false)
  const oldest = await list({ order: 'asc' })
  assert.deepEqual(oldest.data.toReversed(), data)
})

test('pages follow each other without a gap, and a cursor belongs to its filter', async () => {
  const all = (await list({})).data.map(({ id }) => id)
  const first = await list({ limit: 2 })
  const cursor = first.next_cursor ?? ''
  const second = await list({ limit: 2, cursor })
  assert.deepEqual([first.has_more, second.has_more, second.next_cursor], [true, false, null])
  assert.deepEqual(
    [...first.data, ...second.data].map(({ id }) => id),
    all,
  )
  await assert.rejects(list({ limit: 2, cursor, status: 'pending' }), { code: 'invalid_cursor' })
})
