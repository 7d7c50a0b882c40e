import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareCard } from '#test/support/issuer.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorCancelCard } from './operator_cancel_card.ts'
import { operatorUnfreezeCard } from './operator_unfreeze_card.ts'

const room = await openMoneyRoom()
const unfreeze = (id: string) => room.operate((context) => operatorUnfreezeCard(context, { id }))

test('a card that its owner, an agent or an administrator froze is active again', async () => {
  for (const frozen_by of ['owner', 'agent', 'admin']) {
    const { id } = await insertBareCard(room)
    await room.db.run(
      `update cards set status = 'frozen', frozen_by = $2, frozen_at = $3 where id = $1`,
      [id, frozen_by, room.clock.now()],
    )
    const { value, events, entries } = await unfreeze(id)
    assert.deepEqual([value.status, value.frozen_by], ['active', null])
    assert.deepEqual(
      events.map(({ type }) => type),
      ['card.unfrozen'],
    )
    assert.deepEqual(entries, [{ action: 'unfreeze_card', resource: { type: 'card', id } }])
  }
})

test('refuses a card that is active, canceled or unknown', async () => {
  const { id } = await insertBareCard(room)
  await assert.rejects(unfreeze(id), { code: 'card_not_frozen' })
  await room.operate((context) => operatorCancelCard(context, { id }))
  await assert.rejects(unfreeze(id), { code: 'card_cancelled' })
  await assert.rejects(unfreeze('card_unknown'), { code: 'not_found' })
})
