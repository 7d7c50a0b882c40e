import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorGetDispute } from './operator_get_dispute.ts'

const room = await openMoneyRoom({}, await soundBooks())
const get = async (id: string) =>
  (await room.operate((context) => operatorGetDispute(context, { id }))).value
const [open = { id: '', account_id: '', email: '' }] = await room.db.rows<{
  id: string
  account_id: string
  email: string
}>(
  `select d.id, d.account_id, a.email from disputes d join accounts a on a.id = d.account_id
    where d.status = 'open'`,
)

test('shows the dispute with its customer, its merchant and the provisional credit', async () => {
  const dispute = await get(open.id)
  assert.deepEqual(
    [dispute.account_id, dispute.account_email, dispute.merchant_name, dispute.status],
    [open.account_id, open.email, 'Corner Books', 'open'],
  )
  assert(dispute.provisional_credit_usd > 0)
})

test('the merchant is empty once the transaction is archived', async () => {
  await room.db.run(
    `delete from transactions where id = (select transaction_id from disputes where id = $1)`,
    [open.id],
  )
  assert.equal((await get(open.id)).merchant_name, '')
})

test('refuses an unknown ID', async () => {
  await assert.rejects(get('dsp_unknown'), { code: 'not_found', message: 'No such dispute.' })
})
