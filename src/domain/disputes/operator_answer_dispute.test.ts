import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorAnswerDispute } from './operator_answer_dispute.ts'

const room = await openMoneyRoom({}, await soundBooks())
const answer = (id: string, text: string) =>
  room.operate((context) => operatorAnswerDispute(context, { id, text }))
type StoredDispute = { id: string; status: string; evidence_due_at: Date }
const disputes = await room.db.rows<StoredDispute>(
  'select id, status, evidence_due_at from disputes',
)
const open = disputes.find(({ status }) => status === 'open')
const closed = disputes.find(({ status }) => status === 'closed')
assert(open !== undefined && closed !== undefined)

test('the customer learns of the response and of the deadline for evidence; it is audited', async () => {
  room.clock.set(new Date(open.evidence_due_at.getTime() - 86_400_000))
  const { value, events, entries } = await answer(open.id, 'It was delivered.')
  assert.equal(value.status, 'answered')
  assert.deepEqual(value.response, {
    text: 'It was delivered.',
    received_at: room.clock.now().toISOString(),
  })
  const [event] = events
  assert.equal(event?.type, 'dispute.answered')
  assert.match(event?.message ?? '', /^Corner Books responded .* add evidence by /)
  const resource = { type: 'dispute', id: open.id }
  assert.deepEqual(entries, [{ action: 'answer_dispute', resource }])
})

test('a later response replaces an earlier one, after the deadline too', async () => {
  room.clock.set(new Date(open.evidence_due_at.getTime() + 1_000))
  const { value, events } = await answer(open.id, 'Signed by the customer.')
  assert.equal(value.response?.text, 'Signed by the customer.')
  assert.match(events[0]?.message ?? '', /the deadline for evidence has passed\.$/)
})

test('refuses a closed dispute and an unknown one', async () => {
  await assert.rejects(answer(closed.id, 'Too late.'), { code: 'dispute_closed' })
  await assert.rejects(answer('dsp_unknown', 'Hello?'), { code: 'not_found' })
})
