import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertPendingClearing } from '#test/support/pending_clearings.ts'
import { operatorListConversions } from './operator_list_conversions.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListConversions>[1] = {}) =>
  (await room.operate((context) => operatorListConversions(context, input))).value

test('lists clearings without a USD amount, in their own currency, and no held refund', async () => {
  const { id, account_id } = await insertPendingClearing(room, 'conversion')
  await insertPendingClearing(room, 'review')
  const { data } = await list()
  assert.deepEqual(
    data.map((one) => [one.id, one.account_email, one.amount, one.currency, one.amount_usd]),
    [[id, `${account_id}@example.com`, 1_500, 'JPY', null]],
  )
})

test('a clearing whose amount was entered is listed with it until it is booked', async () => {
  const [{ id } = { id: '' }] = (await list()).data
  await room.db.run('update pending_clearings set amount_micros = 9680000 where id = $1', [id])
  assert.equal((await list()).data[0]?.amount_usd, 9.68)
  await room.db.run('update pending_clearings set settled_at = now() where id = $1', [id])
  assert.deepEqual((await list()).data, [])
})
