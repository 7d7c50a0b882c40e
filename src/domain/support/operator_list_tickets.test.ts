import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertBareTicket } from '#test/support/tickets.ts'
import { operatorListTickets } from './operator_list_tickets.ts'
import { operatorSetTicketStatus } from './operator_set_ticket_status.ts'

const room = await openMoneyRoom()
const readPage = async (input: Parameters<typeof operatorListTickets>[1]) =>
  (await room.operate((context) => operatorListTickets(context, input))).value
const list = async (input: Parameters<typeof operatorListTickets>[1]) =>
  (await readPage(input)).data
const idsOf = (tickets: Awaited<ReturnType<typeof list>>) => tickets.map(({ id }) => id)

test('lists tickets of all accounts with messages and the email of the customer', async () => {
  const [account_id, other] = [await room.openAccount(), await room.openAccount()]
  const [first, second] = [
    await insertBareTicket(room, { account_id }),
    await insertBareTicket(room, { account_id: other }),
  ]
  const tickets = await list({})
  assert.deepEqual(idsOf(tickets), [second.id, first.id])
  const [{ account_email, messages } = { account_email: '', messages: [] }] = tickets
  assert.equal(account_email, `${other}@example.com`)
  assert.deepEqual(
    messages.map(({ author, body }) => [author, body]),
    [['customer', 'Where is my card?']],
  )
  assert.deepEqual(idsOf(await list({ account_id })), [first.id])
})

test('lists tickets by status, one or several', async () => {
  const account_id = await room.openAccount()
  const open = await insertBareTicket(room, { account_id })
  const closed = await insertBareTicket(room, { account_id })
  const change = { id: closed.id, status: 'closed' } as const
  await room.operate((context) => operatorSetTicketStatus(context, change))
  assert.deepEqual(idsOf(await list({ account_id, status: 'closed' })), [closed.id])
  const both = await list({ account_id, status: 'open,closed' })
  assert.deepEqual(idsOf(both), [closed.id, open.id])
})

test('a page with long messages ends early, and the next one continues', async () => {
  const account_id = await room.openAccount()
  const ids: string[] = []
  for (let at = 0; at < 3; at += 1) {
    const { id } = await insertBareTicket(room, { account_id })
    await room.db.run(
      `insert into ticket_messages (account_id, ticket_id, id, author, body, created_at)
       values ($1, $2, $3, 'support', repeat('😀', 200000), now())`,
      [account_id, id, room.dependencies.newId('msg', room.clock.now())],
    )
    ids.unshift(id)
  }
  const first = await readPage({ account_id })
  assert.deepEqual(idsOf(first.data), ids.slice(0, 2), '1.6 of at most 2 MB')
  assert.equal(first.has_more, true)
  const rest = await readPage({ account_id, cursor: first.next_cursor ?? '' })
  assert.deepEqual([idsOf(rest.data), rest.has_more], [ids.slice(2), false])
})
