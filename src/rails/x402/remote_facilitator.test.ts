import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import type { SettlementHooks } from './facilitator.ts'
import type { Payment } from './payment.ts'
import type { PaymentNetwork, Receipt } from './receipt.ts'
import { remoteFacilitator } from './remote_facilitator.ts'

/** The facilitator's next response; null closes the connection without one. */
let response: { status: number; body: unknown } | null = null
const received: { path: string; body: Record<string, unknown> }[] = []
const server = createServer(async (request, reply) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  received.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) })
  if (response === null) request.socket.destroy()
  else reply.writeHead(response.status).end(JSON.stringify(response.body))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const http = makeHttpClient({ allow_loopback_http: true })

const payer = `0x${'ab'.repeat(20)}`
const pay_to = `0x${'cd'.repeat(20)}`
const payment = { payer, nonce: '0x01', amount_micros: 5n, payload: {} } as unknown as Payment
const priced = { amount_micros: 5n, pay_to, url: 'https://api.example.com', description: '' }
const txid = `0x${'11'.repeat(32)}`

let requests = 0
const hooks: SettlementHooks = {
  storeSigned: () => Promise.reject(new Error('a remote facilitator signs for itself')),
  beforeRequest: async () => {
    requests += 1
  },
  onSent: () => undefined,
}

function nodeWithReceipt(receipt: Receipt | null): PaymentNetwork {
  return {
    receipt: async () => receipt,
    settlementOf: async () => null,
    broadcast: async () => undefined,
  }
}

const transfers = [{ from: payer, to: pay_to, value: 5n }]
const honest = nodeWithReceipt({ txid, ok: true, fee_wei: 1n, transfers })
const trusting = remoteFacilitator(url, http, null)
const checking = remoteFacilitator(url, http, honest)

test('it is called in the x402 protocol after beforeRequest', async () => {
  response = { status: 200, body: { isValid: true } }
  assert.equal(await checking.verify(payment, priced), null)
  response = { status: 200, body: { success: true, transaction: txid, network: 'eip155:8453' } }
  assert.deepEqual(await checking.settle(payment, priced, hooks), { outcome: 'settled', txid })
  assert.equal(requests, 1)
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/verify', '/settle'],
  )
  const [, settling] = received
  assert(settling !== undefined)
  assert.equal((settling.body['paymentRequirements'] as { payTo: string }).payTo, pay_to)
})

test('its refusal is returned with its reason', async () => {
  response = { status: 200, body: { isValid: false, invalidReason: 'insufficient_funds' } }
  assert.equal(await checking.verify(payment, priced), 'insufficient_funds')
  const reason = 'invalid_exact_evm_signature'
  response = { status: 200, body: { success: false, transaction: '', errorReason: reason } }
  const refused = { outcome: 'failed', reason }
  assert.deepEqual(await checking.settle(payment, priced, hooks), refused)
})

test('a failure that may follow from a transfer it has sent is doubtful', async () => {
  const reasons = ['transaction_failed', 'insufficient_funds', 'nonce_already_used', undefined]
  for (const errorReason of reasons) {
    response = { status: 200, body: { success: false, transaction: '', errorReason } }
    const doubtful = { outcome: 'doubtful', reason: errorReason ?? 'settlement_failed' }
    assert.deepEqual(await checking.settle(payment, priced, hooks), doubtful)
  }
})

test('a false claim of settlement is pending if our own node shows no transfer', async () => {
  response = { status: 200, body: { success: true, transaction: txid } }
  const untrusted = remoteFacilitator(url, http, nodeWithReceipt(null))
  assert.deepEqual(await untrusted.settle(payment, priced, hooks), { outcome: 'pending' })
  assert.equal((await trusting.settle(payment, priced, hooks)).outcome, 'settled')
})

test('no response or a server error leaves the settlement pending', async () => {
  for (const odd of [null, { status: 502, body: {} }]) {
    response = odd
    assert.deepEqual(await checking.settle(payment, priced, hooks), { outcome: 'pending' })
    await assert.rejects(checking.verify(payment, priced))
  }
})
