import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertPendingClearing } from '#test/support/pending_clearings.ts'
import { operatorApproveRefund } from './operator_approve_refund.ts'
import { operatorRefuseRefund } from './operator_refuse_refund.ts'

const room = await openMoneyRoom()
const approve = (id: string) => room.operate((context) => operatorApproveRefund(context, { id }))
const refuse = (id: string) => room.operate((context) => operatorRefuseRefund(context, { id }))

test('an approved refund is left to the task that books it, with an audit entry', async () => {
  const { id, card_id } = await insertPendingClearing(room, 'review')
  const { value, entries, events } = await approve(id)
  assert.deepEqual([value.status, value.amount_usd], ['approved', 20])
  assert.deepEqual(events, [], 'the customer is notified when it is credited')
  const resource = { type: 'card', id: card_id }
  assert.deepEqual(entries, [{ action: 'approve_refund', resource }])
})

test('of concurrent decisions on one refund exactly one counts', async () => {
  const { id } = await insertPendingClearing(room, 'review')
  const decisions = await Promise.allSettled([approve(id), refuse(id), approve(id), refuse(id)])
  assert.equal(decisions.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('refuses a decided refund, a clearing that awaits conversion and an unknown ID', async () => {
  const decided = await insertPendingClearing(room, 'review')
  await approve(decided.id)
  const in_yen = await insertPendingClearing(room, 'conversion')
  for (const id of [decided.id, in_yen.id, 'txn_unknown']) {
    await assert.rejects(approve(id), {
      code: 'not_found',
      message: 'No such refund awaiting approval.',
    })
  }
})
