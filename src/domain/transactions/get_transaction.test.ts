import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#test/support/calls.ts'
import { eventsOf } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { authorize, follow, getTransaction, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test('shows an authorization as the contract describes it and increments its version', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const authorized = await authorize(url, spender, { amount: 12.5, entry_mode: 'contactless' })
  assert.deepEqual(await getTransaction(url, spender.key, authorized.id), authorized)
  assert.deepEqual(
    [
      authorized.card_present,
      authorized.entry_mode,
      authorized.three_ds,
      authorized.version,
      authorized.fee_usd,
    ],
    [true, 'contactless', null, 1, 0],
  )
  assert.match(String(authorized.authorization_code), /^[A-Z0-9]{6}$/)
  const week_ms = Date.parse(String(authorized.expires_at)) - Date.parse(authorized.created_at)
  assert.equal(week_ms, 7 * 24 * 3_600_000)
  await follow(url, spender, { id: authorized.id, verb: 'capture' })
  const after = await getTransaction(url, spender.key, authorized.id)
  assert.deepEqual([after.version, after.status, after.captured_usd], [2, 'captured', 12.5])
})

test('each event carries the transaction exactly as GET showed it at that time', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const authorized = await authorize(url, spender, { amount: 10 })
  const captured = await follow(url, spender, { id: authorized.id, verb: 'capture' })
  const declined = await authorize(url, spender, { amount: 1_000 })
  const refunded = await follow(url, spender, { id: captured.id, verb: 'refund' })
  const events = (await eventsOf(service, spender.card.id)).filter(({ type }) =>
    type.startsWith('transaction.'),
  )
  assert.deepEqual(
    events.map(({ type }) => type),
    [
      'transaction.authorized',
      'transaction.captured',
      'transaction.declined',
      'transaction.refunded',
    ],
  )
  const objects = events.map(({ body }) => JSON.parse(String(body)).data.object)
  assert.deepEqual(objects, [authorized, captured, declined, refunded])
})

test("another account's transaction gets the same response as a missing one", async () => {
  const owner = await openSpender(service, { usd: 100 })
  const stranger = await openSpender(service, { usd: 0 })
  const { id } = await authorize(url, owner, { amount: 1 })
  const ask = (of: string) => send(url, 'GET', `/v1/transactions/${of}`, { bearer: stranger.key })
  const foreign = refusalOf(await ask(id))
  assert.equal(foreign['status'], 404)
  assert.deepEqual(refusalOf(await ask('txn_01kc3z8e5xf8m9r4t2v6w7y8za')), foreign)
})
