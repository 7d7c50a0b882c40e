import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { PAYER_KEY_FILE } from '#sandbox/payments.ts'
import { assertRefused } from '#test/support/calls.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { fromHeader, requiredBy, signed, toHeader } from '#test/support/paying.ts'
import { PASSWORD } from '#test/support/people.ts'

const PRICE = 500_000n
const prices = { issue_card: '0.50', sign_in: '0.05' }
const service = await startTestCells([1], new Map(), {
  FLORIN_PAID_OPERATIONS: JSON.stringify(prices),
})
const { url, cells, data_dir } = service
const { node } = service.sandbox.payments
assert(node !== null)
const payer = privateKeyToAccount(
  readFileSync(join(data_dir, PAYER_KEY_FILE), 'utf8').trim() as Hex,
)
const opened = [await openHolderInCell(service), await openHolderInCell(service)]
const holders = opened.toSorted((a, b) => a.runtime.settings.cell - b.runtime.settings.cell)
const [first, second] = holders
assert(first !== undefined && second !== undefined)

const ask = (bearer: string, headers: Record<string, string> = {}) =>
  send(url, 'POST', '/v1/cards', { bearer, body: { type: 'virtual' }, headers })
/** The header of a payment for a card of this account. */
const payment = async (bearer: string) => ({
  'payment-signature': toHeader(await signed(payer, requiredBy(await ask(bearer)))),
})
const spent = async (work: () => Promise<void>): Promise<bigint> => {
  const before = node.balanceOf(payer.address)
  await work()
  return before - node.balanceOf(payer.address)
}

test('a payment for a call goes to the address of its cell, by a relayer of its own', async () => {
  for (const { key, runtime } of holders) {
    const { pay_to } = runtime.settings.x402
    const paid = await spent(async () => {
      const reply = await ask(key, await payment(key))
      assert.equal(reply.status, 201, reply.text)
      assert.equal(fromHeader(reply.headers.get('payment-response')).success, true)
    })
    assert.equal(paid, PRICE)
    assert.equal(node.balanceOf(pay_to as Hex), PRICE)
    const transfers = await runtime.db.rows<{ relayer: string; nonce: bigint }>(
      'select relayer, nonce from x402_transfers',
    )
    assert.deepEqual(transfers, [{ relayer: runtime.payment_context?.relayer?.address, nonce: 0n }])
  }
})

test('a payment of one cell pays for no call in another, used or not', async () => {
  for (const [from, to] of [
    [first, second],
    [second, first],
  ] as const) {
    const headers = await payment(from.key)
    const refused = await ask(to.key, headers)
    assertRefused(refused, 400, 'payment_invalid')
    assert.match(refused.body['message'], /it does not pay 0x/)
    const paid = await spent(async () => {
      const replies = await Promise.all([ask(from.key, headers), ask(to.key, headers)])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [201, 400],
      )
    })
    assert.equal(paid, PRICE)
    assertRefused(await ask(to.key, headers), 400, 'payment_invalid')
    assertRefused(await ask(from.key, headers), 402, 'payment_failed')
  }
})

test('a payment whose receiver is rewritten for another cell is refused', async () => {
  const required = requiredBy(await ask(first.key))
  const payload = await signed(payer, required)
  const { pay_to } = second.runtime.settings.x402
  const authorization = { ...(payload.payload['authorization'] as object), to: pay_to }
  const forged = {
    ...payload,
    accepted: { ...payload.accepted, payTo: pay_to },
    payload: { ...payload.payload, authorization },
  }
  const reply = await ask(second.key, { 'payment-signature': toHeader(forged) })
  assertRefused(reply, 402, 'payment_failed')
})

test('a sign-in is paid in the cell of its email', async () => {
  for (const { email, account_id, runtime } of holders) {
    const body = { email, password: PASSWORD }
    const due = requiredBy(await send(url, 'POST', '/v1/sessions', { body }))
    assert.equal(due.accepts[0]?.payTo, runtime.settings.x402.pay_to)
    const headers = { 'payment-signature': toHeader(await signed(payer, due)) }
    const reply = await send(url, 'POST', '/v1/sessions', { body, headers })
    assert.equal(reply.body['account_id'], account_id, reply.text)
  }
})

test('the reconciliation adds up the payments of all cells', async () => {
  const { body } = await operate(url, 'GET', '/reconciliation')
  const received = holders.map(({ runtime }) => node.balanceOf(runtime.settings.x402.pay_to as Hex))
  assert.deepEqual(received, [1_050_000n, 1_050_000n])
  const { ledger_usd, on_chain_usd, difference_usd, fault } = body['paid_calls']
  assert.deepEqual([ledger_usd, on_chain_usd, difference_usd, fault], [2.1, 2.1, 0, null])
})

test('the books of every cell are sound', async () => {
  for (const { db } of cells.all) await assertBooksSound(db)
})

test('cells without a relayer and receiver of their own do not start', async () => {
  const { settings } = service.runtime
  const { x402 } = settings
  const own = x402.cells[1]
  assert(own !== undefined && x402.key_file !== null)
  const copy = join(data_dir, 'copied.key')
  writeFileSync(copy, readFileSync(x402.key_file))
  const start = (cells_given: object) =>
    startService(
      { ...settings, port: 0, iso_port: 0, x402: { ...x402, cells: cells_given } as typeof x402 },
      { dependencies: { log: silentLog } },
    )
  await assert.rejects(start({}), /FLORIN_X402_CELLS has no pay_to for cell 1/)
  await assert.rejects(start({ 1: { ...own, key_file: null } }), /no key_file for cell 1/)
  await assert.rejects(start({ 1: { ...own, key_file: copy } }), /0 and 1 have the same relayer/)
})
