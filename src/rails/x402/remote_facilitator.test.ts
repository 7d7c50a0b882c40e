import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import type { Sending } from './facilitator.ts'
import type { Payment } from './payment.ts'
import type { PaymentNetwork, Receipt } from './receipt.ts'
import { remoteFacilitator } from './remote_facilitator.ts'

/** What the facilitator says next; null hangs up without a word. */
let answer: { status: number; body: unknown } | null = null
const heard: { path: string; body: Record<string, unknown> }[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  heard.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) })
  if (answer === null) request.socket.destroy()
  else response.writeHead(answer.status).end(JSON.stringify(answer.body))
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

let asked = 0
const sending: Sending = {
  store: () => Promise.reject(new Error('a remote facilitator signs for itself')),
  asked: async () => {
    asked += 1
  },
  sent: () => undefined,
}

function nodeThatSays(receipt: Receipt | null): PaymentNetwork {
  return {
    receipt: async () => receipt,
    settlementOf: async () => null,
    broadcast: async () => undefined,
  }
}

const transfers = [{ from: payer, to: pay_to, value: 5n }]
const honest = nodeThatSays({ txid, ok: true, fee_wei: 1n, transfers })
const trusting = remoteFacilitator(url, http, null)
const checking = remoteFacilitator(url, http, honest)

test('it is asked in the protocol of x402, and that it is asked is written down first', async () => {
  answer = { status: 200, body: { isValid: true } }
  assert.equal(await checking.verify(payment, priced), null)
  answer = { status: 200, body: { success: true, transaction: txid, network: 'eip155:8453' } }
  assert.deepEqual(await checking.settle(payment, priced, sending), { outcome: 'settled', txid })
  assert.equal(asked, 1)
  assert.deepEqual(
    heard.map(({ path }) => path),
    ['/verify', '/settle'],
  )
  const [, settling] = heard
  assert(settling !== undefined)
  assert.equal((settling.body['paymentRequirements'] as { payTo: string }).payTo, pay_to)
})

test('its no is a no, in its own words', async () => {
  answer = { status: 200, body: { isValid: false, invalidReason: 'insufficient_funds' } }
  assert.equal(await checking.verify(payment, priced), 'insufficient_funds')
  answer = { status: 200, body: { success: false, transaction: '', errorReason: 'expired' } }
  const refused = { outcome: 'failed', reason: 'expired' }
  assert.deepEqual(await checking.settle(payment, priced, sending), refused)
})

test('a lie about coins that have not moved buys nothing where we can look ourselves', async () => {
  answer = { status: 200, body: { success: true, transaction: txid } }
  const lied = remoteFacilitator(url, http, nodeThatSays(null))
  assert.deepEqual(await lied.settle(payment, priced, sending), { outcome: 'pending' })
  assert.equal((await trusting.settle(payment, priced, sending)).outcome, 'settled')
})

test('no answer, a failure of its own or nonsense: it may have been done', async () => {
  for (const odd of [null, { status: 502, body: {} }]) {
    answer = odd
    assert.deepEqual(await checking.settle(payment, priced, sending), { outcome: 'pending' })
    await assert.rejects(checking.verify(payment, priced))
  }
})
