import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_SPEND_LIMITS } from '#settings/spend_limit_settings.ts'
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
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, wealthOf } from '#test/support/money.ts'
import { startTestService } from '#test/support/start.ts'
import { requireLoadAmount } from './limits.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

const load = (bearer: string, id: string, amount_usd: unknown, key?: string): Promise<Reply> =>
  callCard(
    url,
    { id, verb: 'load' },
    { bearer, body: { amount_usd }, ...(key !== undefined && { key }) },
  )

/** A busy node may respond with 503; repeating with the same key returns the outcome. */
async function loadUntilConfirmed(bearer: string, id: string, key: string): Promise<Reply> {
  for (;;) {
    const reply = await load(bearer, id, 1, key)
    if (reply.status !== 503) return reply
  }
}

test('a load moves money to the card immediately, and the response shows both balances', async () => {
  const { bearer, account_id } = await openHolder(service, 100)
  const card = await issueCard(url, bearer)
  const { status, body } = await load(bearer, card.id, 30.5)
  assert.equal(status, 200)
  const { id, created_at, card: after, ...rest } = body
  assert.match(id, /^ctr_/)
  assert.match(created_at, /Z$/)
  assert.deepEqual(rest, {
    type: 'load',
    card_id: card.id,
    amount_usd: 30.5,
    fee_usd: 0,
    balance_usd: 69.5,
  })
  assert.equal(after.balance_usd, 30.5)
  assert.equal(after.version, 2)
  assert.deepEqual(await getCard(url, bearer, card.id), after)
  assert.equal(await wealthOf(db, account_id), '100')
  const event = (await eventsOf(service, card.id)).at(-1)
  assert.equal(event?.type, 'card.loaded')
  assert.deepEqual(JSON.parse(event?.body ?? '').data.object, after)
})

test('active and frozen cards can be loaded, cancelled ones cannot', async () => {
  const { bearer } = await openHolder(service, 100)
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status })
    const reply = await load(bearer, card.id, 5)
    assert.equal(reply.status, 200)
    assert.equal(reply.body.card.status, status)
  }
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await load(bearer, cancelled.id, 5), 409, 'card_cancelled')
  await assertBooksSound(db)
})

test('amounts below the minimum, above the maximum or above the card limit are refused', async () => {
  const { bearer, account_id } = await openHolder(service, 50_000)
  const card = await issueCard(url, bearer)
  for (const [amount, code] of [
    [0, 'amount_out_of_range'],
    [0.99, 'amount_out_of_range'],
    [10_000.01, 'amount_out_of_range'],
    [-5, 'invalid_amount'],
    [1.005, 'invalid_amount'],
  ] as const) {
    assertRefused(await load(bearer, card.id, amount), 422, code)
  }
  assertRefused(await load(bearer, card.id, '5'), 400, 'invalid_request')
  assert.equal((await load(bearer, card.id, 10_000)).status, 200)
  assert.equal((await load(bearer, card.id, 9_999)).status, 200)
  assertRefused(await load(bearer, card.id, 1.01), 422, 'amount_out_of_range')
  assert.equal((await load(bearer, card.id, 1)).body.card.balance_usd, 20_000)
  assert.equal(await wealthOf(db, account_id), '50000')
})

test('without a minimum, a load has at least one cent', () => {
  const load = (amount_micros: bigint) =>
    requireLoadAmount(
      'amount_usd',
      { amount_micros, on_card_micros: 0n },
      { ...DEFAULT_SPEND_LIMITS, load_min_usd: 0 },
    )
  load(10_000n)
  assert.throws(() => load(0n), { message: 'amount_usd must be at least $0.01.' })
})

test('held money counts towards the maximum balance of a card', async () => {
  const { bearer } = await openHolder(service, 30_000)
  const card = await issueCard(url, bearer, { load_usd: 10_000 })
  await holdOn(url, bearer, card.id, 100)
  assert.equal((await load(bearer, card.id, 9_900)).status, 200)
  assertRefused(await load(bearer, card.id, 101), 422, 'amount_out_of_range')
  assert.equal((await load(bearer, card.id, 100)).body.card.balance_usd, 19_900)
})

test('refuses more than the balance holds and leaves no trace', async () => {
  const { bearer } = await openHolder(service, 10)
  const card = await issueCard(url, bearer)
  assertRefused(await load(bearer, card.id, 10.01), 409, 'insufficient_balance')
  assert.deepEqual(await getCard(url, bearer, card.id), card)
  assert.equal((await eventsOf(service, card.id)).length, 1)
})

test('of 200 concurrent loads with money for 37, exactly 37 succeed', async () => {
  const { bearer, account_id } = await openHolder(service, 37)
  const cards = await Promise.all([issueCard(url, bearer), issueCard(url, bearer)])
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      loadUntilConfirmed(bearer, cards[at % 2]?.id ?? '', `rush ${at}`.replace(' ', '_')),
    ),
  )
  assert.equal(replies.filter(({ status }) => status === 200).length, 37)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 409, 'insufficient_balance')
  }
  const balances = await Promise.all(cards.map(({ id }) => getCard(url, bearer, id)))
  assert.equal(
    balances.reduce((sum, card) => sum + card.balance_usd, 0),
    37,
  )
  assert.equal(await wealthOf(db, account_id), '37')
  await assertBooksSound(db)
})

test('a repeat with the same Idempotency-Key loads once; another amount is refused', async () => {
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer)
  const first = await load(bearer, card.id, 7, 'key')
  const again = await load(bearer, card.id, 7, 'key')
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assertRefused(await load(bearer, card.id, 8, 'key'), 422, 'idempotency_key_reused')
  assert.equal((await getCard(url, bearer, card.id)).balance_usd, 7)

  const short = await load(bearer, card.id, 1_000, 'short')
  assertRefused(short, 409, 'insufficient_balance')
  assert.equal((await load(bearer, card.id, 1_000, 'short')).text, short.text)
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (bearer, id) => load(bearer, id, 5))
})

test('the balance history shows the load', async () => {
  const { bearer } = await openHolder(service, 100)
  const card = await issueCard(url, bearer)
  const { body } = await load(bearer, card.id, 25)
  const [point] = await db.rows<{ movement: string; reference_id: string }>(
    `select movement, reference_id from movements where to_owner_id = $1`,
    [card.id],
  )
  assert.deepEqual(point, { movement: 'card_loaded', reference_id: body.id })
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).body.balance_usd, 75)
})
