import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  callCard,
  cardIn,
  eventsOf,
  eventTypesOf,
  getCard,
  issueCard,
  openHolder,
} from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const holder = await openHolder(service, 100)
const { bearer } = holder

const freeze = (who: string, id: string, key?: string): Promise<Reply> =>
  callCard(url, { id, verb: 'freeze' }, { bearer: who, ...(key !== undefined && { key }) })

test('freezing an active card keeps its balance and emits card.frozen', async () => {
  const card = await issueCard(url, bearer, { load_usd: 10 })
  const { status, body } = await freeze(bearer, card.id)
  assert.equal(status, 200)
  const { frozen_at, updated_at, ...rest } = body
  assert.equal(frozen_at, updated_at)
  const { updated_at: _was, frozen_at: _none, ...before } = card
  assert.deepEqual(rest, { ...before, status: 'frozen', frozen_by: 'owner', version: 2 })
  assert.deepEqual(await getCard(url, bearer, card.id), body)
  const event = JSON.parse((await eventsOf(service, card.id)).at(-1)?.body ?? '')
  assert.equal(event.type, 'card.frozen')
  assert.deepEqual(event.data, { object: body, previous_attributes: { status: 'active' } })
  const activity = await send(url, 'GET', '/v1/activity?limit=1', { bearer })
  const [latest] = activity.body['data'] as { message: string }[]
  assert.equal(latest?.message, `You froze your card ending in ${card.last4}.`)
})

test('freezing a frozen card returns 200, changes nothing and emits no event', async () => {
  const card = await cardIn(url, bearer, { status: 'frozen' })
  const again = await freeze(holder.key, card.id)
  assert.equal(again.status, 200)
  assert.deepEqual(again.body, card)
  assert.deepEqual(await eventTypesOf(service, card.id), ['card.issued', 'card.frozen'])
})

test('concurrent freezes change the card once and all return it as frozen', async () => {
  const card = await issueCard(url, bearer)
  const replies = await Promise.all(Array.from({ length: 20 }, () => freeze(bearer, card.id)))
  for (const { status, body } of replies) assert.deepEqual([status, body.version], [200, 2])
  assert.deepEqual(await eventTypesOf(service, card.id), ['card.issued', 'card.frozen'])
})

test('a cancelled card cannot be frozen', async () => {
  const card = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await freeze(bearer, card.id), 409, 'card_cancelled')
  assert.deepEqual(await getCard(url, bearer, card.id), card)
})

test('a repeat with the same Idempotency-Key returns the first response, even after an unfreeze', async () => {
  const card = await issueCard(url, bearer)
  const first = await freeze(bearer, card.id, 'once')
  await callCard(url, { id: card.id, verb: 'unfreeze' }, { bearer })
  const again = await freeze(bearer, card.id, 'once')
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal((await getCard(url, bearer, card.id)).status, 'active')
})

test('the audit log names the frozen card', async () => {
  const card = await cardIn(url, bearer, { status: 'frozen' })
  const entries = await auditLog(url, bearer, '&action=freeze_card')
  assert.ok(entries.some(({ resource }) => resource?.id === card.id))
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, freeze)
})
