import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  cardIn,
  eventsOf,
  getCard,
  issueCard,
  openHolder,
} from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const { bearer } = await openHolder(service)

const set = (who: string, id: string, body: object): Promise<Reply> =>
  send(url, 'PATCH', `/v1/cards/${id}/mcc`, { bearer: who, body })

test('a sent list replaces the old one, an absent list stays, null clears it', async () => {
  const card = await issueCard(url, bearer)
  const allow = ['5411', '5811-5814']
  const first = await set(bearer, card.id, { allow })
  assert.deepEqual([first.status, first.body.mcc], [200, { allow, deny: null }])
  const second = await set(bearer, card.id, { deny: ['7995'] })
  assert.deepEqual(second.body.mcc, { allow, deny: ['7995'] })
  const third = await set(bearer, card.id, { allow: null, deny: [] })
  assert.deepEqual(third.body.mcc, { allow: null, deny: [] })
  const fourth = await set(bearer, card.id, { allow: [] })
  assert.deepEqual(fourth.body.mcc, { allow: [], deny: [] })
  assert.equal(fourth.body.version, 5)
  assert.deepEqual(await getCard(url, bearer, card.id), fourth.body)
  const events = (await eventsOf(service, card.id)).slice(1)
  assert.equal(events.length, 4)
  for (const { type, sequence } of events)
    assert.deepEqual([type, sequence], ['card.mcc_updated', null])
})

test('equal rules change nothing and emit no event', async () => {
  const card = await issueCard(url, bearer, { mcc: { deny: ['7995'] } })
  for (const body of [{}, { deny: ['7995'] }, { allow: null }]) {
    assert.deepEqual((await set(bearer, card.id, body)).body, card)
  }
  assert.equal((await eventsOf(service, card.id)).length, 1)
})

test('an invalid merchant category is refused with its field', async () => {
  const card = await issueCard(url, bearer)
  const [valid = ''] = ['5411', '5811-5814']
  for (const invalid of ['541', '54111', '5411-', '5814-5811', '5811–5814', '54 1', 'food', '']) {
    const reply = await set(bearer, card.id, { deny: [valid, invalid] })
    assertRefused(reply, 422, 'invalid_mcc')
    assert.equal(reply.body.details[0].field, 'deny.1')
  }
  const many = Array.from({ length: 201 }, () => valid)
  assertRefused(await set(bearer, card.id, { allow: many }), 400, 'invalid_request')
  assert.equal((await set(bearer, card.id, { allow: many.slice(1) })).status, 200)
  assertRefused(await set(bearer, card.id, { allow: valid }), 400, 'invalid_request')
  assertRefused(await set(bearer, card.id, { only: [valid] }), 400, 'invalid_request')
})

test('active and frozen cards accept rules, a cancelled one does not', async () => {
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status })
    assert.equal((await set(bearer, card.id, { deny: ['7995'] })).status, 200)
  }
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await set(bearer, cancelled.id, { deny: ['7995'] }), 409, 'card_cancelled')
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (who, id) => set(who, id, { deny: ['7995'] }))
})
