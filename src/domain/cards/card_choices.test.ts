import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { startTestService } from '#test/support/start.ts'
import { findCardChoices } from './card_choices.ts'

const service = await startTestService()
const { runtime, owner_db } = service

/** Copies of a card with numbers of their own. */
async function copyCard(id: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => runtime.newId('card', runtime.clock.now()))
  await owner_db.run(
    `insert into cards
     select (jsonb_populate_record(c, jsonb_build_object(
              'id', copy, 'pan_hash', md5(copy) || md5(copy)))).*
       from cards c, unnest($2::text[]) as copy
      where c.id = $1`,
    [id, ids],
  )
}

test('an app can ask for a card that 200 newer ones hide from the list of the page', async () => {
  const holder = await openHolder(service)
  const { id } = await issueCard(service.url, holder.key)
  await copyCard(id, 200)
  const newest = await findCardChoices(runtime.db, holder.account_id, null)
  assert.equal(newest.length, 200)
  assert(!newest.some((card) => card.id === id))
  const asked = await findCardChoices(runtime.db, holder.account_id, [id, 'card_1'])
  assert.deepEqual(
    asked.map((card) => card.id),
    [id],
  )
})
