import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorListDisputes } from './operator_list_disputes.ts'

const room = await openMoneyRoom({}, await soundBooks())
const readPage = async (input: Parameters<typeof operatorListDisputes>[1] = {}) =>
  (await room.operate((context) => operatorListDisputes(context, input))).value
const list = async (input?: Parameters<typeof readPage>[0]) => (await readPage(input)).data
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

test('a page with long notes ends early, and the next one continues', async () => {
  for (const { account_id, id } of stored) {
    await room.db.run(
      `insert into evidence (account_id, dispute_id, id, kind, note, created_at)
       values ($1, $2, $3, 'note', repeat('😀', 300000), now())`,
      [account_id, id, room.dependencies.newId('evd', room.clock.now())],
    )
  }
  const first = await readPage()
  assert.deepEqual(
    first.data.map(({ id }) => id),
    [lost?.id],
  )
  const rest = await readPage({ cursor: first.next_cursor ?? '' })
  assert.deepEqual(
    rest.data.map(({ id }) => id),
    [open?.id],
  )
  assert.deepEqual([first.has_more, rest.has_more], [true, false])
})
