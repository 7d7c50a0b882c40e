import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertPendingClearing } from '#test/support/pending_clearings.ts'
import { operatorApproveRefund } from './operator_approve_refund.ts'
import { operatorListHeldRefunds } from './operator_list_held_refunds.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListHeldRefunds>[1] = {}) =>
  (await room.operate((context) => operatorListHeldRefunds(context, input))).value

test('lists refunds that await a decision, with card, merchant and customer', async () => {
  const { id, account_id, card_id } = await insertPendingClearing(room, 'review')
  await insertPendingClearing(room, 'conversion')
  const { data } = await list()
  assert.deepEqual(data, [
    {
      id,
      account_id,
      account_email: `${account_id}@example.com`,
      card_id,
      status: 'waiting',
      amount: 20,
      currency: 'USD',
      amount_usd: 20,
      merchant_name: 'Corner Books',
      created_at: room.clock.now().toISOString(),
    },
  ])
})

test('lists the newest first, page by page, without decided ones', async () => {
  room.clock.pass(1_000)
  const second = await insertPendingClearing(room, 'review')
  room.clock.pass(1_000)
  const third = await insertPendingClearing(room, 'review')
  const page = await list({ limit: 1 })
  assert.deepEqual([page.data[0]?.id, page.has_more], [third.id, true])
  const next = await list({ limit: 1, cursor: page.next_cursor ?? '' })
  assert.equal(next.data[0]?.id, second.id)
  await room.operate((context) => operatorApproveRefund(context, { id: third.id }))
  assert.equal((await list({ limit: 1 })).data[0]?.id, second.id)
})
