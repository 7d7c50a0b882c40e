import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
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
import { holdOn } from '#test/support/holds.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, wealthOf } from '#test/support/money.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

const cancel = (bearer: string, id: string): Promise<Reply> =>
  callCard(url, { id, verb: 'cancel' }, { bearer })

const balanceOf = async (bearer: string): Promise<number> =>
  (await send(url, 'GET', '/v1/accounts/me', { bearer })).body.balance_usd

test('cancelling an active or frozen card returns its available balance immediately', async () => {
  const { bearer, account_id } = await openHolder(service, 100)
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status, load_usd: 40 })
    const { body } = await cancel(bearer, card.id)
    assert.deepEqual(
      [body.status, body.cancel_reason, body.balance_usd, body.version],
      ['cancelled', 'requested', 0, card.version + 1],
    )
    assert.equal(body.cancelled_at, body.updated_at)
    assert.equal(await balanceOf(bearer), 100)
    const event = JSON.parse((await eventsOf(service, card.id)).at(-1)?.body ?? '')
    assert.equal(event.type, 'card.cancelled')
    assert.deepEqual(event.data.object, body)
  }
  assert.equal(await wealthOf(db, account_id), '100')
  await assertBooksSound(db)
})

test('cancelling again returns 200, changes nothing and emits no event', async () => {
  const { bearer } = await openHolder(service)
  const card = await cardIn(url, bearer, { status: 'cancelled' })
  const again = await cancel(bearer, card.id)
  assert.deepEqual([again.status, again.body], [200, card])
  assert.deepEqual(await eventTypesOf(service, card.id), ['card.issued', 'card.cancelled'])
})

test('held funds stay on a cancelled card until they are captured or released', async () => {
  const { bearer } = await openHolder(service, 50)
  const card = await issueCard(url, bearer, { load_usd: 50 })
  await holdOn(url, bearer, card.id, 20)
  const { body } = await cancel(bearer, card.id)
  assert.deepEqual([body.balance_usd, body.held_usd], [0, 20])
  assert.equal(await balanceOf(bearer), 30)
})

test('cancelling a physical card that was not shipped cancels its shipment', async () => {
  const { bearer } = await openHolder(service)
  const shipping = {
    name: 'Ada',
    line1: '1 Main St',
    city: 'Berlin',
    postal_code: '10115',
    country: 'DE',
  }
  const card = await issueCard(url, bearer, { type: 'physical', shipping })
  assert.equal((await cancel(bearer, card.id)).body.shipping.status, 'cancelled')
})

/** The events are a history that one caller after another could have made. */
async function assertSerial(card_id: string, loads: readonly Reply[]): Promise<void> {
  const types = await eventTypesOf(service, card_id)
  assert.equal(types.filter((type) => type === 'card.cancelled').length, 1)
  const after = types.slice(types.indexOf('card.cancelled') + 1)
  assert.deepEqual(after, [], 'nothing follows the cancellation')
  const loaded = types.filter((type) => type === 'card.loaded').length
  assert.equal(loaded, loads.filter(({ status }) => status === 200).length + 1)
  const rows = await db.rows<{ micros: bigint }>(
    `select case when movement = 'card_loaded' then amount_micros else -amount_micros end as micros
       from movements where $1 in (from_owner_id, to_owner_id) order by id`,
    [card_id],
  )
  let balance = 0n
  for (const { micros } of rows) {
    balance += micros
    assert(balance >= 0n, 'no step takes more than the card has')
  }
  assert.equal(balance, 0n)
}

test('concurrent loads, unloads and a cancel of one card leave no money on it', async () => {
  const rounds = 8
  for (let round = 0; round < rounds; round += 1) {
    const { bearer, account_id } = await openHolder(service, 60)
    const card = await issueCard(url, bearer, { load_usd: 20 })
    const post = (verb: string, body: object = {}) =>
      callCard(url, { id: card.id, verb }, { bearer, body })
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => post('load', { amount_usd: 5 })),
      ...Array.from({ length: 4 }, () => post('unload', { amount_usd: 5 })),
      post('cancel'),
      post('load', { amount_usd: 5 }),
      post('unload'),
    ])
    const refusals = replies.filter(({ status }) => status !== 200)
    for (const { body } of refusals) {
      assert.ok(['card_cancelled', 'insufficient_card_balance'].includes(body.error), body.error)
    }
    assert.equal(replies[8]?.status, 200)
    const after = await getCard(url, bearer, card.id)
    assert.deepEqual([after.status, after.balance_usd], ['cancelled', 0])
    assert.equal(await balanceOf(bearer), 60)
    assert.equal(await wealthOf(db, account_id), '60')
    await assertSerial(card.id, replies.slice(0, 4).concat(replies.slice(9, 10)))
  }
  await assertBooksSound(db)
})

test('a cancelled card cannot be frozen, unfrozen or replaced, but can be read', async () => {
  const { bearer } = await openHolder(service, 10)
  const card = await cardIn(url, bearer, { status: 'cancelled' })
  for (const verb of ['freeze', 'unfreeze', 'replace']) {
    const reply = await callCard(url, { id: card.id, verb }, { bearer })
    assertRefused(reply, 409, 'card_cancelled')
  }
  assert.deepEqual(await getCard(url, bearer, card.id), card)
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, cancel)
})
