import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertPendingClearing } from '#test/support/pending_clearings.ts'
import { operatorListHeldRefunds } from './operator_list_held_refunds.ts'
import { operatorRefuseRefund } from './operator_refuse_refund.ts'

const room = await openMoneyRoom()
const refuse = (id: string) => room.operate((context) => operatorRefuseRefund(context, { id }))

test('a refused refund leaves the list, and is audited', async () => {
  const { id, card_id } = await insertPendingClearing(room, 'review')
  const { value, entries } = await refuse(id)
  assert.equal(value.status, 'refused')
  const resource = { type: 'card', id: card_id }
  assert.deepEqual(entries, [{ action: 'refuse_refund', resource }])
  const { value: page } = await room.operate((context) => operatorListHeldRefunds(context, {}))
  assert.deepEqual(page.data, [])
})

test('refuses a decided refund and an unknown ID', async () => {
  const { id } = await insertPendingClearing(room, 'review')
  await refuse(id)
  await assert.rejects(refuse(id), { code: 'not_found' })
  await assert.rejects(refuse('txn_unknown'), { code: 'not_found' })
})
