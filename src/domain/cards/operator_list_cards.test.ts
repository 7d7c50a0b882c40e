import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareCard } from '#test/support/issuer.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorCancelCard } from './operator_cancel_card.ts'
import { operatorListCards } from './operator_list_cards.ts'

const room = await openMoneyRoom()
const list = async (input: Parameters<typeof operatorListCards>[1]) =>
  (await room.operate((context) => operatorListCards(context, input))).value
const idsOf = ({ data }: Awaited<ReturnType<typeof list>>) => data.map(({ id }) => id)
const card = await insertBareCard(room)
room.clock.pass(1_000)
const other = await insertBareCard(room)

test('lists cards of all accounts with the email of their owner, newest first', async () => {
  const page = await list({})
  assert.deepEqual(idsOf(page), [other.id, card.id])
  assert.deepEqual(
    page.data.map(({ account_id, account_email }) => [account_id, account_email]),
    [other, card].map(({ account_id }) => [account_id, `${account_id}@example.com`]),
  )
  assert(!JSON.stringify(page).includes(card.pan), 'no list shows a card number')
})

test('finds cards by last four digits, account and ID', async () => {
  const { account_id, id, pan } = card
  assert(idsOf(await list({ last4: pan.slice(-4) })).includes(id))
  assert.deepEqual(idsOf(await list({ account_id })), [id])
  assert.deepEqual(idsOf(await list({ card_id: id })), [id])
  assert.deepEqual(idsOf(await list({ card_id: id, account_id: other.account_id })), [])
})

test('lists cards by status, and physical ones by shipping status', async () => {
  await room.operate((context) => operatorCancelCard(context, { id: other.id }))
  assert.deepEqual(idsOf(await list({ status: 'cancelled' })), [other.id])
  assert.deepEqual(idsOf(await list({ status: 'active,frozen' })), [card.id])
  assert.deepEqual(idsOf(await list({ shipping_status: 'pending' })), [])
  await room.db.run(
    `update cards set type = 'physical', shipping = '{"status": "pending"}' where id = $1`,
    [card.id],
  )
  assert.deepEqual(idsOf(await list({ shipping_status: 'pending,shipped' })), [card.id])
})
