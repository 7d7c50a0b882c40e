import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
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

const update = (who: string, id: string, body: object): Promise<Reply> =>
  send(url, 'PATCH', `/v1/cards/${id}`, { bearer: who, body })

test('a sent field replaces the old value, an absent one stays, null clears it', async () => {
  const card = await issueCard(url, bearer, { name: 'Travel', metadata: { team: 'a', cost: '7' } })
  const renamed = await update(bearer, card.id, { name: 'Food' })
  assert.deepEqual([renamed.status, renamed.body.name], [200, 'Food'])
  assert.deepEqual(renamed.body.metadata, { team: 'a', cost: '7' })
  const noted = await update(bearer, card.id, { metadata: { team: 'b' } })
  assert.deepEqual([noted.body.name, noted.body.metadata], ['Food', { team: 'b' }])
  const cleared = await update(bearer, card.id, { name: null, metadata: null })
  assert.deepEqual([cleared.body.name, cleared.body.metadata], [null, {}])
  assert.equal(cleared.body.version, 4)
  assert.deepEqual(await getCard(url, bearer, card.id), cleared.body)
})

test('every change is an activity row without a sequence number, and is audited', async () => {
  const card = await issueCard(url, bearer)
  await update(bearer, card.id, { name: 'Travel' })
  await update(bearer, card.id, { metadata: { team: 'a' } })
  await update(bearer, card.id, { name: null })
  const events = (await eventsOf(service, card.id)).slice(1)
  assert.deepEqual(
    events.map(({ type, sequence }) => [type, sequence]),
    events.map(() => ['card.updated', null]),
  )
  const activity = await send(url, 'GET', `/v1/activity?card_id=${card.id}`, { bearer })
  const rows: { event: string; message: string }[] = activity.body['data'].slice(0, 3)
  assert.deepEqual(
    rows.map(({ message }) => message.replace(card.last4, '0000')),
    [
      'The name of your card ending in 0000 was removed.',
      'The metadata of your card ending in 0000 was changed.',
      'Your card ending in 0000 was renamed to “Travel”.',
    ],
  )
  const entry = (await auditLog(url, bearer, '&action=update_card')).at(-1)
  assert.deepEqual(entry?.resource, { type: 'card', id: card.id })
})

test('equal values change nothing and emit no event', async () => {
  const card = await issueCard(url, bearer, { name: 'Travel', metadata: { team: 'a' } })
  for (const body of [{}, { name: 'Travel' }, { metadata: { team: 'a' } }]) {
    assert.deepEqual((await update(bearer, card.id, body)).body, card)
  }
  assert.equal((await eventsOf(service, card.id)).length, 1)
})

test('a card can be renamed in every status', async () => {
  for (const status of ['active', 'frozen', 'cancelled'] as const) {
    const card = await cardIn(url, bearer, { status })
    const reply = await update(bearer, card.id, { name: status })
    assert.deepEqual([reply.status, reply.body.name, reply.body.status], [200, status, status])
  }
})

test('a name or metadata that is too long is refused, and an unknown field too', async () => {
  const card = await issueCard(url, bearer)
  const pairs = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 'v']))
  for (const body of [
    { name: '' },
    { name: 'x'.repeat(101) },
    { metadata: pairs },
    { metadata: { ['k'.repeat(41)]: 'v' } },
    { metadata: { k: 'v'.repeat(501) } },
    { metadata: { k: 1 } },
    { status: 'frozen' },
  ]) {
    assertRefused(await update(bearer, card.id, body), 400, 'invalid_request')
  }
  assert.deepEqual(await getCard(url, bearer, card.id), card)
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (who, id) => update(who, id, { name: 'Mine' }))
})
