import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '#test/support/calls.ts'
import { eventsOf } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { authorize, follow, getTransaction, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test('shows a purchase as the contract says, and counts its changes', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const made = await authorize(url, spender, { amount: 12.5, entry_mode: 'contactless' })
  assert.deepEqual(await getTransaction(url, spender.key, made.id), made)
  assert.deepEqual(
    [made.card_present, made.entry_mode, made.three_ds, made.version, made.fee_usd],
    [true, 'contactless', null, 1, 0],
  )
  assert.match(String(made.authorization_code), /^[A-Z0-9]{6}$/)
  const week_ms = Date.parse(String(made.expires_at)) - Date.parse(made.created_at)
  assert.equal(week_ms, 7 * 24 * 3_600_000)
  await follow(url, spender, { id: made.id, verb: 'capture' })
  const after = await getTransaction(url, spender.key, made.id)
  assert.deepEqual([after.version, after.status, after.captured_usd], [2, 'captured', 12.5])
})

test('each event tells the transaction exactly as reading it showed it then', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const made = await authorize(url, spender, { amount: 10 })
  const captured = await follow(url, spender, { id: made.id, verb: 'capture' })
  const declined = await authorize(url, spender, { amount: 1_000 })
  const refunded = await follow(url, spender, { id: captured.id, verb: 'refund' })
  const told = (await eventsOf(service, spender.card.id)).filter(({ type }) =>
    type.startsWith('transaction.'),
  )
  assert.deepEqual(
    told.map(({ type }) => type),
    [
      'transaction.authorized',
      'transaction.captured',
      'transaction.declined',
      'transaction.refunded',
    ],
  )
  const objects = told.map(({ body }) => JSON.parse(String(body)).data.object)
  assert.deepEqual(objects, [made, captured, declined, refunded])
})

test("another account's transaction is answered like one that does not exist", async () => {
  const owner = await openSpender(service, { usd: 100 })
  const stranger = await openSpender(service, { usd: 0 })
  const { id } = await authorize(url, owner, { amount: 1 })
  const ask = (of: string) => send(url, 'GET', `/v1/transactions/${of}`, { bearer: stranger.key })
  const foreign = refusalOf(await ask(id))
  assert.equal(foreign['status'], 404)
  assert.deepEqual(refusalOf(await ask('txn_01kc3z8e5xf8m9r4t2v6w7y8za')), foreign)
})
