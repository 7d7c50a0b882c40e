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
const { url, runtime } = service
const { bearer, account_id } = await openHolder(service)

const set = (who: string, id: string, body: object, key?: string): Promise<Reply> =>
  send(url, 'PATCH', `/v1/cards/${id}/limits`, {
    bearer: who,
    body,
    ...(key !== undefined && { key }),
  })

const valuesIn = ({ body }: Reply) => [
  body.limits.per_transaction_usd,
  body.limits.daily_usd,
  body.limits.monthly_usd,
]

test('a sent limit is set, an absent one stays, null removes it, zero is kept', async () => {
  const card = await issueCard(url, bearer, { limits: { daily_usd: 40 } })
  const first = await set(bearer, card.id, { per_transaction_usd: 10.5, monthly_usd: 100_000 })
  assert.deepEqual(valuesIn(first), [10.5, 40, 100_000])
  assert.equal(first.body.version, 2)
  const second = await set(bearer, card.id, { per_transaction_usd: null, daily_usd: 0 })
  assert.deepEqual(valuesIn(second), [null, 0, 100_000])
  assert.deepEqual(await getCard(url, bearer, card.id), second.body)
  const events = (await eventsOf(service, card.id)).slice(1)
  assert.deepEqual(
    events.map(({ type, sequence, body }) => [type, sequence, body]),
    [
      ['card.limits_updated', null, null],
      ['card.limits_updated', null, null],
    ],
  )
})

test('equal limits change nothing and emit no event', async () => {
  const card = await issueCard(url, bearer, { limits: { daily_usd: 40 } })
  for (const body of [{}, { daily_usd: 40 }, { monthly_usd: null }]) {
    const reply = await set(bearer, card.id, body)
    assert.deepEqual([reply.status, reply.body], [200, card])
  }
  assert.equal((await eventsOf(service, card.id)).length, 1)
})

test("a limit may equal the program's or the account's maximum but not exceed it", async () => {
  const card = await issueCard(url, bearer)
  const bounds = { per_transaction_usd: 10_000, daily_usd: 20_000, monthly_usd: 100_000 }
  assert.equal((await set(bearer, card.id, bounds)).status, 200)
  for (const [field, maximum] of Object.entries(bounds)) {
    const reply = await set(bearer, card.id, { [field]: maximum + 0.01 })
    assertRefused(reply, 422, 'amount_out_of_range')
    assert.equal(reply.body.details[0].field, field)
  }
  const own = JSON.stringify({ daily_max_usd: 50 })
  await runtime.db.run('update accounts set spend_limits = $2 where id = $1', [account_id, own])
  assertRefused(await set(bearer, card.id, { daily_usd: 50.01 }), 422, 'amount_out_of_range')
  await runtime.db.run(`update accounts set spend_limits = '{}' where id = $1`, [account_id])
})

test('invalid amounts are refused and change nothing', async () => {
  const card = await issueCard(url, bearer)
  assertRefused(await set(bearer, card.id, { daily_usd: -1 }), 422, 'invalid_amount')
  assertRefused(await set(bearer, card.id, { daily_usd: 0.001 }), 422, 'invalid_amount')
  assertRefused(await set(bearer, card.id, { daily_usd: '5' }), 400, 'invalid_request')
  assertRefused(await set(bearer, card.id, { weekly_usd: 5 }), 400, 'invalid_request')
  assertRefused(await set(bearer, card.id, { spent: {} }), 400, 'invalid_request')
  assert.deepEqual(await getCard(url, bearer, card.id), card)
})

test('active and frozen cards accept limits, a cancelled one does not', async () => {
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status })
    assert.deepEqual(valuesIn(await set(bearer, card.id, { daily_usd: 9 })), [null, 9, null])
  }
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await set(bearer, cancelled.id, { daily_usd: 9 }), 409, 'card_cancelled')
})

test('a repeat with the same Idempotency-Key does not undo a later change', async () => {
  const card = await issueCard(url, bearer)
  const first = await set(bearer, card.id, { daily_usd: 9 }, 'once')
  await set(bearer, card.id, { daily_usd: 8 })
  assert.equal((await set(bearer, card.id, { daily_usd: 9 }, 'once')).text, first.text)
  assert.equal((await getCard(url, bearer, card.id)).limits.daily_usd, 8)
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (who, id) => set(who, id, { daily_usd: 1 }))
})
