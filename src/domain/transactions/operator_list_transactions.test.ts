import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorListTransactions } from './operator_list_transactions.ts'

const room = await openMoneyRoom({}, await soundBooks())
const list = async (input: Parameters<typeof operatorListTransactions>[1]) =>
  (await room.operate((context) => operatorListTransactions(context, input))).value.data
type StoredTransaction = { account_id: string; card_id: string; id: string }
const stored = await room.db.rows<StoredTransaction>(
  'select account_id, card_id, id from transactions order by id desc',
)
const [newest = { account_id: '', card_id: '', id: '' }] = stored

test('lists the transactions of one account, newest first, with its email', async () => {
  const { account_id } = newest
  const listed = await list({ account_id, limit: 100 })
  assert.deepEqual(
    listed.map(({ id }) => id),
    stored.map(({ id }) => id),
  )
  const [{ email } = { email: '' }] = await room.db.rows<{ email: string }>(
    'select email from accounts where id = $1',
    [account_id],
  )
  for (const row of listed)
    assert.deepEqual([row.account_id, row.account_email], [account_id, email])
})

test('lists those of one card, or one by its ID; never those of another account', async () => {
  const { account_id, card_id, id } = newest
  const of_card = stored.filter((one) => one.card_id === card_id)
  assert(of_card.length < stored.length)
  assert.equal((await list({ account_id, card_id, limit: 100 })).length, of_card.length)
  assert.deepEqual(
    (await list({ account_id, transaction_id: id })).map((one) => one.id),
    [id],
  )
  const stranger = await room.openAccount()
  assert.deepEqual(await list({ account_id: stranger, transaction_id: id }), [])
})
