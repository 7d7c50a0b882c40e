import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import type { Facilitator } from '#rails/x402/facilitator.ts'
import { remoteFacilitator } from '#rails/x402/remote_facilitator.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openPaymentRoom, receiptOf } from '#test/support/payment_room.ts'
import { collect } from './collect.ts'
import type { Bill } from './payment.ts'
import { findPayment } from './payment_store.ts'
import { resolvePaymentsTask } from './resolve_payments_task.ts'

const room = await openPaymentRoom()
const { db, context, facilitator, network, clock } = room

beforeEach(() => {
  facilitator.objection = null
  facilitator.outcome = (txid, bill) => {
    network.receipts.set(txid, receiptOf(txid, bill))
    return { outcome: 'settled', txid }
  }
  facilitator.signed.length = 0
})

const stateOf = async (bill: Bill) => (await findPayment(db, bill.payment))?.state ?? 'none'
const retryOf = (bill: Bill): Bill => ({ ...bill, request_id: `${bill.request_id} again` })

test('a good payment is settled once and waits for its call', async () => {
  const bill = room.newBill()
  const row = await collect(context, bill)
  assert.deepEqual([row.state, row.txid], ['settled', facilitator.signed[0]])
  assert.equal(await stateOf(bill), 'settled')
  await assertBooksSound(db)
})

test('a retry of the request reuses a settled payment after its lease ended', async () => {
  const bill = room.newBill()
  const first = await collect(context, bill)
  await assert.rejects(collect(context, retryOf(bill)), { code: 'idempotency_in_progress' })
  clock.pass(60_000)
  const again = await collect(context, retryOf(bill))
  assert.deepEqual([again.id, again.state], [first.id, 'settled'])
  assert.equal(facilitator.signed.length, 1)
})

test('of concurrent requests with one payment exactly one gets it', async () => {
  const bill = room.newBill()
  const requests = Array.from({ length: 8 }, (_, at) =>
    collect(context, { ...bill, request_id: `req_${at}` }),
  )
  const results = await Promise.allSettled(requests)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(facilitator.signed.length, 1)
})

test('a settled payment does not pay for another request', async () => {
  const bill = room.newBill()
  await collect(context, bill)
  clock.pass(60_000)
  const other = { ...retryOf(bill), fingerprint: 'another request' }
  await assert.rejects(collect(context, other), { code: 'payment_failed' })
})

test('a blocked payer and an objection of the facilitator leave no payment', async () => {
  const bill = room.newBill()
  for (const decision of ['block', 'review'] as const) {
    const screen = async () => ({ decision, source: 'test', list_version: '1' })
    const blocking = { ...context, screener: { screen } }
    await assert.rejects(collect(blocking, bill), { code: 'payment_failed', status: 402 })
  }
  facilitator.objection = 'insufficient_funds'
  await assert.rejects(collect(context, bill), /cannot be settled: insufficient_funds/)
  facilitator.objection = new Error('the facilitator is down')
  await assert.rejects(collect(context, bill), { code: 'service_unavailable', retry_after_s: 5 })
  assert.deepEqual([await stateOf(bill), facilitator.signed], ['none', []])
})

test('a payment that is valid for more than a day is refused before it is reserved', async () => {
  const bill = room.newBill()
  const validFor = (ms: number): Bill => {
    const valid_before = new Date(clock.now().getTime() + ms)
    return { ...bill, payment: { ...bill.payment, valid_before } }
  }
  const day_ms = 24 * 60 * 60_000
  const message = 'The payment is valid for more than a day. Sign one that expires earlier.'
  await assert.rejects(collect(context, validFor(day_ms + 1)), { code: 'payment_failed', message })
  assert.equal(await stateOf(bill), 'none')
  assert.equal((await collect(context, validFor(day_ms))).state, 'settled')
})

test('a payment that failed on the chain is refused and can be sent again', async () => {
  const bill = room.newBill()
  facilitator.outcome = (txid) => {
    network.mine(txid)
    return { outcome: 'failed', reason: 'reverted' }
  }
  await assert.rejects(collect(context, bill), { code: 'payment_failed' })
  assert.equal(await stateOf(bill), 'failed')
  facilitator.outcome = (txid, { payer }) => {
    network.receipts.set(txid, receiptOf(txid, { payer }))
    return { outcome: 'settled', txid }
  }
  assert.equal((await collect(context, retryOf(bill))).state, 'settled')
  await assertBooksSound(db)
})

test('an unconfirmed payment asks for a retry, which resumes it without a second transfer', async () => {
  const bill = room.newBill()
  facilitator.outcome = () => ({ outcome: 'pending' })
  await assert.rejects(collect(context, bill), { code: 'service_unavailable', retry_after_s: 5 })
  assert.equal(await stateOf(bill), 'settling')
  const [txid = ''] = facilitator.signed
  network.receipts.set(txid, receiptOf(txid, bill.payment))
  const row = await collect(context, retryOf(bill))
  assert.deepEqual([row.state, row.txid, facilitator.signed.length], ['settled', txid, 1])
  await assertBooksSound(db)
})

test('a receipt without the coins does not count, whatever the facilitator says', async () => {
  const bill = room.newBill()
  facilitator.outcome = (txid) => {
    network.receipts.set(txid, { ...receiptOf(txid, bill.payment), transfers: [] })
    return { outcome: 'settled', txid }
  }
  await assert.rejects(collect(context, bill), { code: 'payment_failed' })
  assert.equal(await stateOf(bill), 'failed')
})

/** A service that answers /verify with yes and /settle with this failure. */
async function openRemote(errorReason: string) {
  const paths: string[] = []
  const server = createServer((request, reply) => {
    paths.push(request.url ?? '')
    const isVerify = request.url === '/verify'
    reply.end(JSON.stringify(isVerify ? { isValid: true } : { success: false, errorReason }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const remote = remoteFacilitator(url, makeHttpClient({ allow_loopback_http: true }), network)
  return { paths, remote_context: { ...context, relayer: null, facilitator: remote } }
}

test('a failure that a remote facilitator reports is final only if nothing can have been sent', async () => {
  const doubtful = await openRemote('transaction_failed')
  const bill = room.newBill()
  const collecting = collect(doubtful.remote_context, bill)
  await assert.rejects(collecting, { code: 'service_unavailable', retry_after_s: 5 })
  assert.equal(await stateOf(bill), 'settling')
  network.settlements.set(bill.payment.nonce, '0xsent')
  network.receipts.set('0xsent', receiptOf('0xsent', bill.payment))
  const row = await collect(doubtful.remote_context, retryOf(bill))
  assert.deepEqual([row.state, row.txid], ['settled', '0xsent'])

  const refused = await openRemote('invalid_exact_evm_signature')
  const other = room.newBill()
  await assert.rejects(collect(refused.remote_context, other), { code: 'payment_failed' })
  assert.equal(await stateOf(other), 'failed')
  await assertBooksSound(db)
})

test('a payment that the task has given up is not sent to a remote facilitator', async () => {
  const { paths, remote_context } = await openRemote('transaction_failed')
  const bill = room.newBill()
  const slow: Facilitator = {
    ...remote_context.facilitator,
    settle: async (...input) => {
      clock.pass(60_000)
      await resolvePaymentsTask(remote_context).run()
      return remote_context.facilitator.settle(...input)
    },
  }
  const collecting = collect({ ...remote_context, facilitator: slow }, bill)
  await assert.rejects(collecting, { code: 'service_unavailable', retry_after_s: 5 })
  assert.deepEqual([paths, await stateOf(bill)], [['/verify'], 'failed'])
})

test('after an exception at any step a retry resumes, and the payment settles once', async () => {
  const points = ['payment_reserved', 'payment_signed', 'payment_sent', 'payment_settled'] as const
  for (const point of points) {
    facilitator.signed.length = 0
    const bill = room.newBill()
    const fail = (at: string) => {
      if (at === point) throw new Error('crashed')
    }
    await assert.rejects(collect({ ...context, fail }, bill), /crashed/)
    clock.pass(60_000)
    const row = await collect(context, retryOf(bill)).catch(async () => {
      // The signed transfer was never sent by the crashed call: the retry sends it.
      const { id } = (await findPayment(db, bill.payment)) ?? { id: '' }
      const [transfer] = await db.rows<{ txid: string }>(
        'select txid from x402_transfers where payment_id = $1',
        [id],
      )
      network.receipts.set(transfer?.txid ?? '', receiptOf(transfer?.txid ?? '', bill.payment))
      return collect(context, { ...bill, request_id: 'req_third' })
    })
    assert.equal(row.state, 'settled', point)
    const transfers = await db.rows('select 1 from x402_transfers where payment_id = $1', [row.id])
    assert.equal(transfers.length, 1, point)
  }
  await assertBooksSound(db)
})
