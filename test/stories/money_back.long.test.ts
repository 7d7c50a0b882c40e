import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEvent } from '#contract/activity.ts'
import type { Dispute } from '#contract/disputes.ts'
import type { Transaction } from '#contract/transactions.ts'
import { assertRefused } from '#test/support/calls.ts'
import { callCard, getCard } from '#test/support/cards.ts'
import {
  type Buyer,
  balanceOf,
  file,
  fileDispute,
  getDispute,
  openBuyer,
} from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import {
  authorize,
  follow,
  forceCapture,
  getTransaction,
  openSpender,
} from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

const refund = (buyer: Buyer, amount?: number): Promise<Transaction> =>
  follow(url, buyer, { id: buyer.capture.id, verb: 'refund', ...(amount && { amount }) })

const reverse = (buyer: Buyer, { id }: Transaction): Promise<Transaction> =>
  follow(url, buyer, { id, verb: 'reverse' })

async function close(id: string, outcome: 'won' | 'lost'): Promise<void> {
  const reply = await operate(url, 'POST', `/disputes/${id}/close`, { body: { outcome } })
  assert.equal(reply.status, 200, reply.text)
}

async function owedBy({ key }: Buyer): Promise<number> {
  return (await send(url, 'GET', '/v1/balance', { bearer: key })).body['owed_usd']
}

async function onCard({ key, card }: Buyer): Promise<number> {
  return (await getCard(url, key, card.id)).balance_usd
}

async function activityOf({ key }: Buyer, event: string): Promise<ActivityEvent[]> {
  const reply = await send(url, 'GET', `/v1/activity?event=${event}`, { bearer: key })
  return reply.body['data'] as ActivityEvent[]
}

const stateOf = ({ status, outcome, closed_by, provisional_credit_usd }: Dispute) => ({
  status,
  outcome,
  closed_by,
  provisional_credit_usd,
})

test('a purchase of 40 that is refunded and disputed gives 40 back, and the dispute closes', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer)
  assert.equal(dispute.closed_by, null)
  await refund(buyer)
  assert.deepEqual([await onCard(buyer), await balanceOf(url, buyer.key)], [100, 0])
  const closed = await getDispute(url, buyer.key, dispute.id)
  assert.deepEqual(stateOf(closed), {
    status: 'closed',
    outcome: 'won',
    closed_by: 'refund',
    provisional_credit_usd: 0,
  })
  assert.notEqual(closed.resolved_at, null)
  assert.equal(closed.version, dispute.version + 1)
  const [told] = await runtime.db.rows<{ body: string }>(
    `select body from events where account_id = $1 and type = 'dispute.resolved'`,
    [buyer.account_id],
  )
  assert.deepEqual(JSON.parse(told?.body ?? '{}').data.object, closed)
  const late = await operate(url, 'POST', `/disputes/${dispute.id}/close`, {
    body: { outcome: 'lost' },
  })
  assertRefused(late, 409, 'dispute_closed')
  assertRefused(await file(url, buyer), 422, 'transaction_not_disputable')
  await assertBooksSound(runtime.db)
})

test('a refund takes back the credit of a dispute that was won before', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer)
  await close(dispute.id, 'won')
  assert.equal((await getDispute(url, buyer.key, dispute.id)).closed_by, 'operator')
  await refund(buyer, 30)
  assert.deepEqual([await onCard(buyer), await balanceOf(url, buyer.key)], [90, 10])
  const state = { status: 'closed', outcome: 'won', closed_by: 'operator' }
  const reduced = await getDispute(url, buyer.key, dispute.id)
  assert.deepEqual(stateOf(reduced), { ...state, provisional_credit_usd: 10 })
  const [row] = await activityOf(buyer, 'dispute.credit_reduced')
  assert.equal(row?.amount_usd, 30)
  await refund(buyer, 10)
  assert.equal(await balanceOf(url, buyer.key), 0)
  await assertBooksSound(runtime.db)
})

test('a dispute of 10 and a refund of 20 on a capture of 40 do not overlap', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer, { amount_usd: 10 })
  await refund(buyer, 20)
  assert.deepEqual([await onCard(buyer), await balanceOf(url, buyer.key)], [80, 10])
  assert.deepEqual(await getDispute(url, buyer.key, dispute.id), dispute)
})

test('a partial overlap is taken back in part, and a lost dispute takes the rest', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer, { amount_usd: 30 })
  await refund(buyer, 25)
  assert.deepEqual([await onCard(buyer), await balanceOf(url, buyer.key)], [85, 15])
  const open = await getDispute(url, buyer.key, dispute.id)
  assert.deepEqual([open.status, open.provisional_credit_usd], ['open', 15])
  await close(dispute.id, 'lost')
  assert.deepEqual([await balanceOf(url, buyer.key), await owedBy(buyer)], [0, 0])
  // 40 were taken and 25 refunded: so much may still be contested, and no more.
  assertRefused(await file(url, buyer, { amount_usd: 15.01 }), 422, 'amount_out_of_range')
  assert.equal((await fileDispute(url, buyer)).amount_usd, 15)
  await assertBooksSound(runtime.db)
})

test('the part of an overlap that the treasury lacks is owed', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer)
  const load = { bearer: buyer.key, body: { amount_usd: 25 } }
  assert.equal((await callCard(url, { id: buyer.card.id, verb: 'load' }, load)).status, 200)
  await refund(buyer)
  assert.equal((await getDispute(url, buyer.key, dispute.id)).closed_by, 'refund')
  assert.deepEqual([await balanceOf(url, buyer.key), await owedBy(buyer)], [0, 25])
  assert.equal((await activityOf(buyer, 'balance.debt_incurred'))[0]?.amount_usd, 25)
  await assertBooksSound(runtime.db)
})

test('a refund to a cancelled card and its overlap both fall on the treasury', async () => {
  const buyer = await openBuyer(service, 40, 40)
  await fileDispute(url, buyer)
  await callCard(url, { id: buyer.card.id, verb: 'cancel' }, { bearer: buyer.key })
  await refund(buyer)
  assert.equal(await balanceOf(url, buyer.key), 40)
  await assertBooksSound(runtime.db)
})

test('a refund of one of two captures leaves the dispute about the other alone', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const held = await authorize(url, spender, { amount: 80 })
  const first = await follow(url, spender, { id: held.id, verb: 'capture', amount: 40 })
  const second = await follow(url, spender, { id: held.id, verb: 'capture', amount: 40 })
  const dispute = await fileDispute(url, { ...spender, capture: first })
  await refund({ ...spender, capture: second })
  assert.deepEqual(await getDispute(url, spender.key, dispute.id), dispute)
  assert.equal(await balanceOf(url, spender.key), 40)
})

test('a reversed refund is taken back from the card, shows as reversed, and can be disputed anew', async () => {
  const buyer = await openBuyer(service, 40)
  const dispute = await fileDispute(url, buyer)
  const refunded = await refund(buyer)
  assert.equal((await getTransaction(url, buyer.key, buyer.capture.id)).refunded_usd, 40)
  await reverse(buyer, refunded)
  const after = await getTransaction(url, buyer.key, refunded.id)
  assert.deepEqual([after.status, after.version], ['reversed', refunded.version + 1])
  assert.equal((await getTransaction(url, buyer.key, buyer.capture.id)).refunded_usd, 0)
  assert.deepEqual([await onCard(buyer), await balanceOf(url, buyer.key)], [60, 0])
  const [row] = await activityOf(buyer, 'transaction.refund_reversed')
  assert.deepEqual([row?.amount_usd, row?.resource.id, row?.sequence], [40, refunded.id, null])
  const listed = await send(url, 'GET', '/v1/transactions?type=refund&status=reversed', {
    bearer: buyer.key,
  })
  assert.deepEqual(
    listed.body['data'].map(({ id }: Transaction) => id),
    [refunded.id],
  )

  assert.equal((await getDispute(url, buyer.key, dispute.id)).closed_by, 'refund')
  const again = await fileDispute(url, buyer)
  assert.equal(again.amount_usd, 40)
  assert.equal(await balanceOf(url, buyer.key), 40)
  await assertBooksSound(runtime.db)
})

test('a repeated reversal of a refund takes the money back once', async () => {
  const buyer = await openBuyer(service, 40)
  const refunded = await refund(buyer, 15)
  await reverse(buyer, refunded)
  await reverse(buyer, refunded)
  assert.equal(await onCard(buyer), 60)
  assert.equal((await getTransaction(url, buyer.key, buyer.capture.id)).refunded_usd, 0)
  await assertBooksSound(runtime.db)
})

test('each of two captures gets its own part of a reversed refund back', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const held = await authorize(url, spender, { amount: 80 })
  const first = await follow(url, spender, { id: held.id, verb: 'capture', amount: 40 })
  const second = await follow(url, spender, { id: held.id, verb: 'capture', amount: 40 })
  const of_second = await refund({ ...spender, capture: second })
  await refund({ ...spender, capture: first }, 30)
  await reverse({ ...spender, capture: second }, of_second)
  const refunded = async ({ id }: Transaction) =>
    (await getTransaction(url, spender.key, id)).refunded_usd
  assert.deepEqual(
    [await refunded(first), await refunded(second), await refunded(held)],
    [30, 0, 30],
  )
  await assertBooksSound(runtime.db)
})

test('a refund of a forced post can be reversed too', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const capture = await forceCapture(url, spender, { amount: 40 })
  const buyer = { ...spender, capture }
  const refunded = await refund(buyer)
  assertRefused(await file(url, buyer), 422, 'transaction_not_disputable')
  await reverse(buyer, refunded)
  assert.equal((await fileDispute(url, buyer)).amount_usd, 40)
  await assertBooksSound(runtime.db)
})

test('a reversed refund leaves no difference in the reconciliation', async () => {
  const difference = async () => {
    const reply = await operate(url, 'GET', '/reconciliation')
    assert.equal(reply.status, 200, reply.text)
    return reply.body['network'].map(
      ({ difference_usd }: { difference_usd: number }) => difference_usd,
    )
  }
  const buyer = await openBuyer(service, 40)
  const figures = async () => {
    const reply = await operate(url, 'GET', '/figures')
    return reply.body['days'].at(-1).refunded_usd
  }
  const before = await figures()
  await reverse(buyer, await refund(buyer))
  assert.deepEqual(await difference(), [0])
  assert.equal(await figures(), before)
})

test('concurrent refunds and a dispute never return more than the capture', async () => {
  for (let round = 0; round < 5; round += 1) {
    const buyer = await openBuyer(service, 40)
    await Promise.all([refund(buyer, 25), file(url, buyer, { amount_usd: 30 }), refund(buyer, 15)])
    const wealth = (await onCard(buyer)) + (await balanceOf(url, buyer.key)) - (await owedBy(buyer))
    assert.equal(wealth, 100)
  }
  await assertBooksSound(runtime.db)
})
