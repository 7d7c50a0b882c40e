import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertBareTicket } from '#test/support/tickets.ts'
import { operatorReplyTicket } from './operator_reply_ticket.ts'

const room = await openMoneyRoom()
const reply = (input: Parameters<typeof operatorReplyTicket>[1]) =>
  room.operate((context) => operatorReplyTicket(context, input))

test('a reply is the last message, the ticket waits for the customer, and it is audited', async () => {
  const { id } = await insertBareTicket(room)
  const { value, entries } = await reply({ id, message: 'It was shipped.' })
  assert.equal(value.status, 'pending')
  assert.deepEqual(
    value.messages.map(({ author, body }) => [author, body]),
    [
      ['customer', 'Where is my card?'],
      ['support', 'It was shipped.'],
    ],
  )
  assert.deepEqual(entries, [{ action: 'reply_ticket', resource: { type: 'ticket', id } }])
})

test('the reply can set another status', async () => {
  const { id } = await insertBareTicket(room)
  assert.equal((await reply({ id, message: 'Done.', status: 'resolved' })).value.status, 'resolved')
})

test('the customer gets one email about it, without the text of the reply', async () => {
  const { id, account_id } = await insertBareTicket(room)
  await reply({ id, message: 'A secret of the conversation.' })
  const notices = await room.db.rows<Record<string, unknown>>(
    'select * from notices where account_id = $1',
    [account_id],
  )
  assert.deepEqual(
    notices.map(({ kind, recipient }) => [kind, recipient]),
    [['ticket.answered', `${account_id}@example.com`]],
  )
  const text = Object.values(notices[0] ?? {}).join('\n')
  assert(!text.includes('A secret of the conversation.'), text)
})

test('refuses an unknown ticket and leaves no email', async () => {
  const count = async () =>
    (await room.db.rows<{ count: bigint }>('select count(*) from notices'))[0]?.count
  const before = await count()
  await assert.rejects(reply({ id: 'tkt_unknown', message: 'Hello?' }), { code: 'not_found' })
  assert.equal(await count(), before)
})
