import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { payFor } from '#cli/sandbox/pay.ts'
import { PAYER_KEY_FILE } from '#sandbox/payments.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { rpc, type ToolResult } from '#test/support/mcp.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { payingFetch, requiredBy, signed, toHeader } from '#test/support/paying.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const prices = {
  create_account: '0.10',
  sign_in: '0.01',
  issue_card: '0.50',
  reveal_pan: '1',
  replay_webhook: '0.02',
  get_balance: '0.000001',
}
const priced = await startTestService({
  env: { FLORIN_PAID_OPERATIONS: JSON.stringify(prices) },
})
// The same database without prices, to set up accounts and keys.
const free = await startTestService({
  database_url: priced.database_url,
  data_dir: priced.data_dir,
})
const { url } = priced
const { db } = priced.runtime
const { node } = priced.sandbox.payments
assert(node !== null)
const ada = await openAccount(free.url)
const { key } = await createKey(free.url, ada.bearer)
const key_path = join(priced.data_dir, PAYER_KEY_FILE)
const payer = privateKeyToAccount(readFileSync(key_path, 'utf8').trim() as Hex)
const pay = payingFetch(payer)
const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

test('the official x402 client pays on the sandbox node', async () => {
  const before = node.balanceOf(payer.address)
  const body = JSON.stringify({ type: 'virtual' })
  const reply = await pay(`${url}/v1/cards`, { method: 'POST', headers: json, body })
  assert.equal(reply.status, 201, await reply.text())
  assert.equal(before - node.balanceOf(payer.address), 500_000n)
  assert.equal(node.balanceOf(priced.runtime.settings.x402.pay_to as Hex), 500_000n)
})

test('sandbox calls and the demo are free of charge', async () => {
  const { sandbox_host } = priced
  const email = `house_${Date.now()}@example.com`
  const opened = await sandbox_host.call('create_account', { email, password: PASSWORD })
  assert.equal(opened.status, 201)
  assert.equal(
    (await sandbox_host.call('get_balance', {}, String(opened.body['bearer']))).status,
    200,
  )
})

test('florin sandbox pay prints each step of a payment', async () => {
  const lines: string[] = []
  process.env['FLORIN_DATA_DIR'] = priced.data_dir
  after(() => {
    delete process.env['FLORIN_DATA_DIR']
  })
  await payFor({ url, bearer: key }, (line) => lines.push(line))
  const output = lines.join('\n')
  assert.match(output, /issue_card costs 0\.5 USD/)
  assert.match(output, /402 payment_required/)
  assert.match(output, /201 \{"id":"card_/)
  assert.match(output, /settled in 0x[0-9a-f]{64}/)
  assert.match(output, /the stored response, free of charge/)
})

const tool = async (name: string, given: object, meta: object = {}): Promise<ToolResult> => {
  const params = { name, arguments: given, _meta: meta }
  const { body } = await rpc(url, 'tools/call', params, { bearer: key })
  return body['result'] as ToolResult
}

test('an agent reads the price in the result, and pays and gets the receipt in _meta', async () => {
  const due = await tool('issue_card', { type: 'virtual' })
  assert.equal(due.isError, true)
  const { structuredContent: content } = due
  assert.equal(content['error'], 'payment_required')
  assert.match(String(content['message']), /costs 0\.5 USD/)
  assert.match(String(content['request_id']), /^req_/)
  assert.equal(content['x402Version'], 2)
  assert.deepEqual(JSON.parse(due.content[0]?.text ?? ''), content)
  const payment = await signed(payer, content as never)
  const paid = await tool('issue_card', { type: 'virtual' }, { 'x402/payment': payment })
  assert.equal(paid.isError, undefined, JSON.stringify(paid))
  assert.match(String(paid.structuredContent['id']), /^card_/)
  const receipt = paid._meta?.['x402/payment-response'] as { success: boolean; payer: string }
  assert.deepEqual([receipt.success, receipt.payer], [true, payer.address])
  const twice = await tool('issue_card', { type: 'virtual' }, { 'x402/payment': payment })
  assert.equal(twice.structuredContent['error'], 'payment_failed')
  const odd = await tool('issue_card', { type: 'virtual' }, { 'x402/payment': { x402Version: 1 } })
  assert.equal(odd.structuredContent['error'], 'payment_invalid')
})

test('an unpaid reveal shows the price, uses no attempt and reveals nothing', async () => {
  const list = await send(url, 'GET', '/v1/cards', { bearer: key })
  const path = `/v1/cards/${list.body['data'][0].id}/pan`
  for (let time = 0; time < 7; time += 1) {
    assertRefused(await send(url, 'GET', path, { bearer: key }), 402, 'payment_required')
  }
  const headers = {
    'payment-signature': toHeader(
      await signed(payer, requiredBy(await send(url, 'GET', path, { bearer: key }))),
    ),
  }
  const shown = await send(url, 'GET', path, { bearer: key, headers })
  assert.equal(shown.status, 200, shown.text)
  assert.match(shown.body['pan'], /^\d{16}$/)
  const revealed = await auditLog(free.url, ada.bearer, '&action=card.pan_revealed')
  assert.equal(revealed.length, 1)
  assertRefused(await send(url, 'GET', path, { bearer: key }), 409, 'reveal_already_used')
})

test('a wrong password counts as an attempt without a payment; a correct one must be paid', async () => {
  const eve = await openAccount(free.url)
  const signIn = (password: string) =>
    send(url, 'POST', '/v1/sessions', { body: { email: eve.email, password } })
  assertRefused(await signIn(PASSWORD), 402, 'payment_required')
  for (let guess = 0; guess < 10; guess += 1) {
    assertRefused(await signIn(`wrong password ${guess}`), 401, 'invalid_credentials')
  }
  assertRefused(await signIn(PASSWORD), 429, 'too_many_attempts')
})

test('opening an account costs its price; an email already in use costs nothing', async () => {
  const email = `paid_${Date.now()}@example.com`
  const body = JSON.stringify({ email, password: PASSWORD })
  const open = () => pay(`${url}/v1/accounts`, { method: 'POST', headers: json, body })
  const before = node.balanceOf(payer.address)
  const opened = await open()
  assert.equal(opened.status, 201)
  assert.equal((await open()).status, 409)
  assert.equal(before - node.balanceOf(payer.address), 100_000n)
})

test('the books are sound afterwards', () => assertBooksSound(db))
