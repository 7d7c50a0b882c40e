import assert from 'node:assert/strict'
import { test } from 'node:test'
import { move } from '#domain/ledger/move.ts'
import { cardPurse } from '#domain/ledger/purse.ts'
import { assertRefused } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  callCard,
  cardIn,
  eventsOf,
  getCard,
  issueCard,
  openHolder,
} from '#test/support/cards.ts'
import { holdOn } from '#test/support/holds.ts'
import type { Reply } from '#test/support/http.ts'
import { assertBooksSound, wealthOf } from '#test/support/money.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

const unload = (bearer: string, id: string, body: object = {}, key?: string): Promise<Reply> =>
  callCard(url, { id, verb: 'unload' }, { bearer, body, ...(key !== undefined && { key }) })

test('unloads an amount, or the whole balance without an amount', async () => {
  const { bearer, account_id } = await openHolder(service, 100)
  const card = await issueCard(url, bearer, { load_usd: 50 })
  const part = await unload(bearer, card.id, { amount_usd: 0.01 })
  assert.equal(part.status, 200)
  assert.match(part.body.id, /^ctr_/)
  assert.equal(part.body.type, 'unload')
  assert.deepEqual([part.body.amount_usd, part.body.balance_usd], [0.01, 50.01])
  assert.equal(part.body.card.balance_usd, 49.99)
  const rest = await unload(bearer, card.id)
  assert.deepEqual([rest.body.amount_usd, rest.body.balance_usd], [49.99, 100])
  assert.equal(rest.body.card.version, 3)
  assert.deepEqual(await getCard(url, bearer, card.id), rest.body.card)
  const events = (await eventsOf(service, card.id)).slice(2)
  assert.deepEqual(
    events.map(({ type, sequence, body }) => [type, sequence, body]),
    [
      ['card.unloaded', null, null],
      ['card.unloaded', null, null],
    ],
  )
  assert.equal(await wealthOf(db, account_id), '100')
})

test('a card can be unloaded in every status, cancelled included', async () => {
  const { bearer, account_id } = await openHolder(service, 100)
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status, load_usd: 10 })
    const reply = await unload(bearer, card.id, { amount_usd: 10 })
    assert.equal(reply.status, 200)
    assert.equal(reply.body.card.status, status)
  }
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await unload(bearer, cancelled.id), 409, 'insufficient_card_balance')
  const other = await issueCard(url, bearer, { load_usd: 4 })
  const { clock, newId } = runtime
  await db.transaction((tx) =>
    move(
      tx,
      {
        movement: 'card_replaced',
        account_id,
        from: cardPurse(other.id),
        to: cardPurse(cancelled.id),
        amount_micros: 4_000_000n,
        reference: { type: 'card', id: cancelled.id },
        description: 'A late refund.',
      },
      { now: clock.now(), newId },
    ),
  )
  assert.equal((await unload(bearer, cancelled.id)).body.amount_usd, 4)
  await assertBooksSound(db)
})

test('held funds cannot be unloaded', async () => {
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer, { load_usd: 30 })
  await holdOn(url, bearer, card.id, 12.34)
  const before = await getCard(url, bearer, card.id)
  assert.deepEqual([before.balance_usd, before.held_usd], [17.66, 12.34])
  const more = await unload(bearer, card.id, { amount_usd: 17.67 })
  assertRefused(more, 409, 'insufficient_card_balance')
  assert.equal((await unload(bearer, card.id)).body.amount_usd, 17.66)
  const after = await getCard(url, bearer, card.id)
  assert.deepEqual([after.balance_usd, after.held_usd], [0, 12.34])
})

test('an unload of a replacement debits it and not the card that it replaced', async () => {
  const { bearer, account_id } = await openHolder(service, 100)
  const old = await issueCard(url, bearer, { load_usd: 50 })
  const replaced = await callCard(url, { id: old.id, verb: 'replace' }, { bearer })
  assert.equal(replaced.status, 200, replaced.text)
  const { status, body, text } = await unload(bearer, replaced.body.id, { amount_usd: 20 })
  assert.equal(status, 200, text)
  assert.deepEqual([body.card.balance_usd, body.balance_usd], [30, 70])
  assert.equal((await getCard(url, bearer, old.id)).balance_usd, 0)
  assert.equal(await wealthOf(db, account_id), '100')
})

test('an empty card and an amount of zero or less are refused', async () => {
  const { bearer } = await openHolder(service, 10)
  const card = await issueCard(url, bearer)
  assertRefused(await unload(bearer, card.id), 409, 'insufficient_card_balance')
  assertRefused(await unload(bearer, card.id, { amount_usd: 5 }), 409, 'insufficient_card_balance')
  assertRefused(await unload(bearer, card.id, { amount_usd: 0 }), 422, 'amount_out_of_range')
  assertRefused(await unload(bearer, card.id, { amount_usd: -1 }), 422, 'invalid_amount')
  assertRefused(await unload(bearer, card.id, { amount_usd: 0.001 }), 422, 'invalid_amount')
  assert.deepEqual(await getCard(url, bearer, card.id), card)
})

test('a repeat with the same Idempotency-Key unloads once', async () => {
  const { bearer } = await openHolder(service, 10)
  const card = await issueCard(url, bearer, { load_usd: 10 })
  const first = await unload(bearer, card.id, { amount_usd: 4 }, 'once')
  assert.equal((await unload(bearer, card.id, { amount_usd: 4 }, 'once')).text, first.text)
  assert.equal((await getCard(url, bearer, card.id)).balance_usd, 6)
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (bearer, id) => unload(bearer, id))
})
