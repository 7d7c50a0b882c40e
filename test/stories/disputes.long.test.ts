import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispute } from '#contract/disputes.ts'
import { proveBooks } from '#main/audit.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import {
  addEvidence,
  balanceOf,
  fileDispute,
  getDispute,
  openBuyer,
} from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { callSandbox } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

const eventsOf = async (account_id: string) =>
  (
    await runtime.db.rows<{ type: string; body: string | null }>(
      `select type, body from events where account_id = $1 and type like 'dispute.%' order by id`,
      [account_id],
    )
  ).map(({ type, body }) => ({ type, body: body === null ? null : JSON.parse(body) }))

/** Proves the books and returns the credit that the operator has advanced. */
async function advancedUsd(): Promise<number> {
  const { figures, violations } = await proveBooks(runtime.db, runtime.clock.now())
  assert.deepEqual(violations, [])
  return -Number(figures['operator_usd'])
}

const close = async (key: string, id: string, outcome: string): Promise<Dispute> => {
  const reply = await callSandbox(url, key, `disputes/${id}/close`, { outcome })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('the holder keeps the credit of a won dispute', async () => {
  const buyer = await openBuyer(service, 40)
  const before = await advancedUsd()
  const dispute = await fileDispute(url, buyer)
  assert.equal(await advancedUsd(), before + 40)
  assert.equal(await balanceOf(url, buyer.key), 40)
  await addEvidence(url, buyer.key, dispute.id, { body: { kind: 'note', note: 'Look.' } })
  const answered = await callSandbox(url, buyer.key, `disputes/${dispute.id}/answer`, {
    text: 'No.',
  })
  assert.equal(answered.body['status'], 'answered')
  assert.equal(await advancedUsd(), before + 40)

  const won = await close(buyer.key, dispute.id, 'won')
  assert.deepEqual([won.status, won.outcome, won.evidence.length], ['closed', 'won', 1])
  assert.notEqual(won.resolved_at, null)
  assert.equal(await advancedUsd(), before + 40)
  assert.equal(await balanceOf(url, buyer.key), 40)
  assert.deepEqual(await getDispute(url, buyer.key, dispute.id), won)

  const events = await eventsOf(buyer.account_id)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['dispute.opened', 'dispute.answered', 'dispute.resolved'],
  )
  assert.deepEqual(events[2]?.body.data.object, won)
  const again = await callSandbox(url, buyer.key, `disputes/${dispute.id}/close`, {
    outcome: 'lost',
  })
  assertRefused(again, 409, 'dispute_closed')
  const entries = await auditLog(url, buyer.bearer, '&actor_type=operator')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['answer_dispute', 'close_dispute'],
  )
})

test('the credit of a lost dispute is reversed', async () => {
  const buyer = await openBuyer(service, 40)
  const before = await advancedUsd()
  const dispute = await fileDispute(url, buyer, { amount_usd: 30 })
  assert.equal(await advancedUsd(), before + 30)
  const lost = await close(buyer.key, dispute.id, 'lost')
  assert.deepEqual([lost.status, lost.outcome], ['closed', 'lost'])
  assert.equal(await advancedUsd(), before)
  assert.equal(await balanceOf(url, buyer.key), 0)
  const history = await send(url, 'GET', '/v1/balance/history?limit=2', { bearer: buyer.key })
  assert.deepEqual(
    history.body['data'].map(({ type, amount_usd }: { type: string; amount_usd: number }) => [
      type,
      amount_usd,
    ]),
    [
      ['dispute_reversal', -30],
      ['dispute_credit', 30],
    ],
  )
})

test('the spent part of a lost credit becomes a debt, which the next credit pays', async () => {
  const buyer = await openBuyer(service, 40)
  const before = await advancedUsd()
  const dispute = await fileDispute(url, buyer)
  const load = { bearer: buyer.key, body: { amount_usd: 25 } }
  assert.equal((await send(url, 'POST', `/v1/cards/${buyer.card.id}/load`, load)).status, 200)
  await close(buyer.key, dispute.id, 'lost')
  assert.equal(await advancedUsd(), before)
  assert.equal(await balanceOf(url, buyer.key), 0)
  const owed = async () =>
    (
      await runtime.db.rows<{ micros: bigint }>(
        `select balance_micros as micros from purses where account_id = $1 and kind = 'receivable'`,
        [buyer.account_id],
      )
    )[0]?.micros
  assert.equal(await owed(), -25_000_000n)
  await fileDispute(url, buyer)
  assert.equal(await owed(), 0n)
  assert.equal(await balanceOf(url, buyer.key), 15)
  await advancedUsd()
})

test('two operators who close one dispute concurrently move its money once', async () => {
  const buyer = await openBuyer(service, 40)
  const before = await advancedUsd()
  const { id } = await fileDispute(url, buyer)
  const body = { outcome: 'lost' }
  const replies = await Promise.all(
    [1, 2, 3].map(() => operate(url, 'POST', `/disputes/${id}/close`, { body })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409])
  assert.equal(await advancedUsd(), before)
})

test('the event of a large dispute stays within 20 KB, and GET shows all of it', async () => {
  const buyer = await openBuyer(service, 40)
  const { id } = await fileDispute(url, buyer, { explanation: 'ä'.repeat(5_000) })
  for (let count = 0; count < 20; count += 1) {
    await addEvidence(url, buyer.key, id, { body: { kind: 'note', note: '€'.repeat(10_000) } })
  }
  await close(buyer.key, id, 'won')
  const { evidence } = await getDispute(url, buyer.key, id)
  assert.equal(evidence[19]?.note?.length, 10_000)
  for (const { body } of await eventsOf(buyer.account_id)) {
    assert(Buffer.byteLength(JSON.stringify(body)) <= 20_000)
  }
})

test('the holder is notified three days before the evidence deadline and when it has passed', async () => {
  const buyer = await openBuyer(service, 40)
  await fileDispute(url, buyer)
  const due = async () =>
    (await eventsOf(buyer.account_id)).filter(({ type }) => type === 'dispute.evidence_due').length
  await advance(url, buyer.key, 26 * 86_400)
  assert.equal(await due(), 0)
  await advance(url, buyer.key, 1.5 * 86_400)
  assert.equal(await due(), 1)
  await advance(url, buyer.key, 3 * 86_400)
  assert.equal(await due(), 2)
  await service.tasks.run(['remind_evidence'])
  assert.equal(await due(), 2)
})
