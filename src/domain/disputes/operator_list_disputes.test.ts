import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorListDisputes } from './operator_list_disputes.ts'

const room = await openMoneyRoom({}, await soundBooks())
const list = async (input: Parameters<typeof operatorListDisputes>[1] = {}) =>
  (await room.operate((context) => operatorListDisputes(context, input))).value.data
const stored = await room.db.rows<{ account_id: string; id: string; outcome: string | null }>(
  'select account_id, id, outcome from disputes order by id desc',
)
const [lost, open] = stored

test('lists disputes of all accounts, newest first, with customer and merchant', async () => {
  const disputes = await list()
  assert.deepEqual(
    disputes.map(({ id }) => id),
    stored.map(({ id }) => id),
  )
  for (const { account_email, merchant_name } of disputes) {
    assert.match(account_email, /@example\.com$/)
    assert.equal(merchant_name, 'Corner Books')
  }
})

test('lists disputes by status, outcome and account', async () => {
  const idsOf = async (input: Parameters<typeof list>[0]) => (await list(input)).map(({ id }) => id)
  assert.deepEqual(await idsOf({ status: 'open,answered' }), [open?.id])
  assert.deepEqual(await idsOf({ outcome: 'lost' }), [lost?.id])
  assert.deepEqual(await idsOf({ outcome: 'won' }), [])
  assert.equal((await idsOf({ account_id: lost?.account_id ?? '' })).length, stored.length)
  assert.deepEqual(await idsOf({ account_id: await room.openAccount() }), [])
})
