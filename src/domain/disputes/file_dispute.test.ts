import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { balanceOf, file, fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { authorize, follow, forceCapture, getTransaction } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

const eventsOf = async (account_id: string, type: string) =>
  (
    await runtime.db.rows<{ body: string }>(
      'select body from events where account_id = $1 and type = $2 order by id',
      [account_id, type],
    )
  ).map(({ body }) => JSON.parse(body))

test('filing credits the amount immediately, emits an event and sets dispute_id', async () => {
  const buyer = await openBuyer(service, 40)
  const before = await balanceOf(url, buyer.key)
  const reply = await file(url, buyer, { metadata: { order: 'A-1' } })
  assert.equal(reply.status, 201, reply.text)
  const dispute = reply.body
  assert.match(dispute.id, /^dsp_/)
  assert.equal(dispute.card_id, buyer.card.id)
  assert.deepEqual(
    [dispute.amount_usd, dispute.provisional_credit_usd, dispute.status, dispute.outcome],
    [40, 40, 'open', null],
  )
  assert.deepEqual([dispute.response, dispute.evidence, dispute.resolved_at], [null, [], null])
  assert.deepEqual(dispute.metadata, { order: 'A-1' })
  const due_ms = Date.parse(dispute.evidence_due_at) - Date.parse(dispute.created_at)
  assert.equal(due_ms, 30 * 86_400_000)
  assert.equal(await balanceOf(url, buyer.key), before + 40)
  assert.equal((await getTransaction(url, buyer.key, buyer.capture.id)).dispute_id, dispute.id)

  const [event] = await eventsOf(buyer.account_id, 'dispute.opened')
  assert.deepEqual(event.data.object, dispute)
  const [entry] = await auditLog(url, buyer.bearer, '&action=file_dispute')
  assert.deepEqual(entry?.resource, { type: 'dispute', id: dispute.id })
  const history = await send(url, 'GET', '/v1/balance/history?type=dispute_credit', {
    bearer: buyer.key,
  })
  assert.equal(history.body['data'][0].amount_usd, 40)
  assert.deepEqual(history.body['data'][0].reference, { type: 'dispute', id: dispute.id })
  await assertBooksSound(runtime.db)
})

test('the amount may be partial but not exceed the unrefunded amount', async () => {
  const buyer = await openBuyer(service, 40)
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 15 })
  for (const amount_usd of [25.01, 40, 0, 1_000_000]) {
    const refused = await file(url, buyer, { amount_usd })
    assertRefused(refused, 422, 'amount_out_of_range')
    assert.match(String(refused.body['message']), /more than 0 and at most \$25\.00\.$/)
  }
  assertRefused(await file(url, buyer, { amount_usd: 1.001 }), 422, 'invalid_amount')
  assertRefused(await file(url, buyer, { amount_usd: -1 }), 422, 'invalid_amount')
  assert.equal((await fileDispute(url, buyer, { amount_usd: 25 })).amount_usd, 25)
})

test('without an amount the whole unrefunded amount is disputed', async () => {
  const buyer = await openBuyer(service, 40)
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 15 })
  assert.equal((await fileDispute(url, buyer)).amount_usd, 25)
})

test('a fully refunded capture cannot be disputed', async () => {
  const buyer = await openBuyer(service, 40)
  await follow(url, buyer, { id: buyer.capture.id, verb: 'refund' })
  assertRefused(await file(url, buyer), 422, 'transaction_not_disputable')
})

test('a capture whose refund came first can be disputed for the rest only', async () => {
  const buyer = await openBuyer(service, 40)
  const held = await authorize(url, buyer, { amount: 30 })
  const send = (verb: 'capture' | 'refund', amount: number) =>
    follow(url, buyer, { id: held.id, verb, amount })
  await send('capture', 5)
  await send('refund', 25)
  const covered = await send('capture', 10)
  assert.equal(covered.refunded_usd, 10)
  const refused = await file(url, buyer, { transaction_id: covered.id })
  assertRefused(refused, 422, 'transaction_not_disputable')
  const last = await send('capture', 15)
  assert.equal((await fileDispute(url, { ...buyer, capture: last })).amount_usd, 5)
  await assertBooksSound(runtime.db)
})

test('of two refunds in full, reversing one leaves nothing to dispute', async () => {
  const buyer = await openBuyer(service, 40)
  const refund = () => follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 40 })
  const [first, second] = [await refund(), await refund()]
  await follow(url, buyer, { id: first.id, verb: 'reverse' })
  assertRefused(await file(url, buyer), 422, 'transaction_not_disputable')
  await follow(url, buyer, { id: second.id, verb: 'reverse' })
  assert.equal((await fileDispute(url, buyer)).amount_usd, 40)
  await assertBooksSound(runtime.db)
})

test('only captures can be disputed, not authorizations, refunds or declines', async () => {
  const buyer = await openBuyer(service, 10)
  const held = await authorize(url, buyer, { amount: 5 })
  const refund = await follow(url, buyer, { id: buyer.capture.id, verb: 'refund', amount: 1 })
  const declined = await authorize(url, buyer, { amount: 9_999 })
  assert.equal(declined.type, 'decline')
  for (const { id } of [held, refund, declined]) {
    const reply = await file(url, buyer, { transaction_id: id })
    assertRefused(reply, 422, 'transaction_not_disputable')
  }
  const forced = await forceCapture(url, buyer, { amount: 7 })
  assert.equal((await fileDispute(url, { ...buyer, capture: forced })).amount_usd, 7)
})

test('a capture has at most one open dispute, even with concurrent calls', async () => {
  const buyer = await openBuyer(service, 40)
  const replies = await Promise.all([1, 2, 3, 4].map(() => file(url, buyer, { amount_usd: 5 })))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409])
  assertRefused(await file(url, buyer), 409, 'dispute_exists')
  assert.equal(await balanceOf(url, buyer.key), 5)
  await assertBooksSound(runtime.db)
})

test('a won amount cannot be disputed again, a lost one can', async () => {
  const buyer = await openBuyer(service, 40)
  const first = await fileDispute(url, buyer, { amount_usd: 30 })
  await operate(url, 'POST', `/disputes/${first.id}/close`, { body: { outcome: 'won' } })
  assertRefused(await file(url, buyer, { amount_usd: 10.01 }), 422, 'amount_out_of_range')
  const second = await fileDispute(url, buyer)
  assert.equal(second.amount_usd, 10)
  await operate(url, 'POST', `/disputes/${second.id}/close`, { body: { outcome: 'lost' } })
  const third = await fileDispute(url, buyer)
  await operate(url, 'POST', `/disputes/${third.id}/close`, { body: { outcome: 'won' } })
  assertRefused(await file(url, buyer), 422, 'transaction_not_disputable')
  assert.equal(await balanceOf(url, buyer.key), 40)
  await assertBooksSound(runtime.db)
})

test("another account's transaction is not found", async () => {
  const owner = await openBuyer(service, 10)
  const stranger = await openBuyer(service, 10)
  const foreign = refusalOf(await file(url, stranger, { transaction_id: owner.capture.id }))
  const missing = 'txn_01kc3z8e5xf8m9r4t2v6w7y8za'
  assert.equal(foreign['status'], 404)
  assert.deepEqual(refusalOf(await file(url, stranger, { transaction_id: missing })), foreign)
  assert.equal((await getTransaction(url, owner.key, owner.capture.id)).dispute_id, null)
})

test('a repeat with the same Idempotency-Key files one dispute', async () => {
  const buyer = await openBuyer(service, 10)
  const first = await file(url, buyer, {}, { key: 'once' })
  const again = await file(url, buyer, {}, { key: 'once' })
  assert.equal(again.status, 201)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  assert.equal(await balanceOf(url, buyer.key), 10)
})

test('a malformed request is refused with details', async () => {
  const buyer = await openBuyer(service, 10)
  for (const body of [
    { reason: 'bored' },
    { explanation: '' },
    { explanation: 'x'.repeat(5001) },
    { surplus: 1 },
    { metadata: { a: 1 } },
  ]) {
    const reply = await file(url, buyer, body)
    assertRefused(reply, 400, 'invalid_request')
    assert(reply.body['details'].length > 0)
  }
})

test('a purchase can be disputed for 120 days', async () => {
  const young = await openBuyer(service, 10)
  const old = await openBuyer(service, 10)
  await advance(url, young.key, 119 * 86_400)
  await fileDispute(url, young)
  await advance(url, young.key, 2 * 86_400)
  assertRefused(await file(url, old), 422, 'transaction_not_disputable')
})
