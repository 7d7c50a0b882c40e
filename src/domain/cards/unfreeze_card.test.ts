import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  callCard,
  cardIn,
  eventsOf,
  getCard,
  openHolder,
} from '#test/support/cards.ts'
import type { Reply } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service
const { bearer } = await openHolder(service)

const unfreeze = (who: string, id: string): Promise<Reply> =>
  callCard(url, { id, verb: 'unfreeze' }, { bearer: who })

test('unfreezing makes the card active and clears frozen_by and frozen_at', async () => {
  const card = await cardIn(url, bearer, { status: 'frozen' })
  const { status, body } = await unfreeze(bearer, card.id)
  assert.equal(status, 200)
  assert.deepEqual(
    [body.status, body.frozen_by, body.frozen_at, body.version],
    ['active', null, null, 3],
  )
  assert.deepEqual(await getCard(url, bearer, card.id), body)
  const event = (await eventsOf(service, card.id)).at(-1)
  assert.deepEqual([event?.type, event?.sequence], ['card.unfrozen', null])
})

test('an active or cancelled card cannot be unfrozen', async () => {
  const active = await cardIn(url, bearer, { status: 'active' })
  assertRefused(await unfreeze(bearer, active.id), 409, 'card_not_frozen')
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await unfreeze(bearer, cancelled.id), 409, 'card_cancelled')
})

test('the holder cannot unfreeze a card that an administrator froze', async () => {
  const card = await cardIn(url, bearer, { status: 'frozen' })
  await runtime.db.run(`update cards set frozen_by = 'admin' where id = $1`, [card.id])
  assertRefused(await unfreeze(bearer, card.id), 403, 'policy_denied')
  assert.equal((await getCard(url, bearer, card.id)).status, 'frozen')
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, unfreeze)
})
