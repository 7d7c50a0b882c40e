import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { insertBareTicket } from '#test/support/tickets.ts'
import { operatorSetTicketStatus } from './operator_set_ticket_status.ts'

const room = await openMoneyRoom()
const set = (input: Parameters<typeof operatorSetTicketStatus>[1]) =>
  room.operate((context) => operatorSetTicketStatus(context, input))

test('a ticket can get any status, a closed one too; each change is audited', async () => {
  const { id } = await insertBareTicket(room)
  for (const status of ['closed', 'open', 'resolved', 'pending'] as const) {
    room.clock.pass(1_000)
    const { value, entries } = await set({ id, status })
    assert.deepEqual([value.status, value.updated_at], [status, room.clock.now().toISOString()])
    assert.deepEqual(entries, [{ action: 'set_ticket_status', resource: { type: 'ticket', id } }])
  }
})

test('the messages stay as they are, and nobody is emailed', async () => {
  const { id, account_id } = await insertBareTicket(room)
  assert.equal((await set({ id, status: 'closed' })).value.messages.length, 1)
  const notices = await room.db.rows('select from notices where account_id = $1', [account_id])
  assert.equal(notices.length, 0)
})

test('refuses an unknown ID', async () => {
  await assert.rejects(set({ id: 'tkt_unknown', status: 'closed' }), { code: 'not_found' })
})
