import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareCard } from '#test/support/issuer.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorCancelCard } from './operator_cancel_card.ts'
import { operatorFreezeCard } from './operator_freeze_card.ts'

const room = await openMoneyRoom()
const freeze = (id: string) => room.operate((context) => operatorFreezeCard(context, { id }))

test('a card is frozen by an administrator, with an event and an audit entry', async () => {
  const { id } = await insertBareCard(room)
  const { value, events, entries } = await freeze(id)
  assert.deepEqual([value.status, value.frozen_by], ['frozen', 'admin'])
  assert.deepEqual(
    events.map(({ type, previous_attributes }) => [type, previous_attributes]),
    [['card.frozen', { status: 'active' }]],
  )
  assert.deepEqual(entries, [{ action: 'freeze_card', resource: { type: 'card', id } }])
})

test('a repeat changes nothing and emits no second event', async () => {
  const { id } = await insertBareCard(room)
  const first = await freeze(id)
  room.clock.pass(1_000)
  const second = await freeze(id)
  assert.deepEqual(second.value, first.value)
  assert.deepEqual(second.events, [])
})

test('a card that its holder froze passes to the administrator without an event', async () => {
  const { id } = await insertBareCard(room)
  const frozen_at = new Date('2031-01-01T00:00:00.000Z')
  await room.db.run(
    `update cards set status = 'frozen', frozen_by = 'owner', frozen_at = $2 where id = $1`,
    [id, frozen_at],
  )
  const { value, events } = await freeze(id)
  assert.deepEqual([value.frozen_by, events], ['admin', []])
  const [row] = await room.db.rows<{ frozen_at: Date }>(
    'select frozen_at from cards where id = $1',
    [id],
  )
  assert.deepEqual(row?.frozen_at, frozen_at)
})

test('refuses a canceled card and an unknown one', async () => {
  const { id } = await insertBareCard(room)
  await room.operate((context) => operatorCancelCard(context, { id }))
  await assert.rejects(freeze(id), { code: 'card_cancelled' })
  await assert.rejects(freeze('card_unknown'), { code: 'not_found' })
})
