import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { PaymentPayload } from '@x402/fetch'
import { USDC } from '#rails/x402/requirement.ts'
import { startBaseChain } from '#test/support/base_chain.ts'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { type RequestOptions, send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { fromHeader, payingFetch, requiredBy, signed, toHeader } from '#test/support/paying.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { balanceOf } from '#test/support/topups.ts'

const data_dir = mkdtempSync(join(tmpdir(), 'florin_paid_'))
const screening_file = join(data_dir, 'blocked.txt')
writeFileSync(screening_file, '# nobody yet\n')
const chain = await startBaseChain(data_dir)
const prices = { issue_card: '0.50', get_card: '0.01', load_card: 0.25, sign_in: '0.05' }
const service = await startTestService({
  data_dir,
  env: { ...chain.env(prices), FLORIN_SCREENING_FILE: screening_file },
})
// After everything that keeps its state there has stopped.
after(() => rmSync(data_dir, { recursive: true, force: true }))
const { url, tasks } = service
const { db } = service.runtime
const { bearer, account_id } = await openAccount(url)
const { key } = await createKey(url, bearer)
await fundTreasury(db, account_id, 100)

const CARDS = '/v1/cards'
const PRICE = 500_000n
const virtual = { type: 'virtual' }
const WAIT = { within_ms: 10_000 }
const ask = (sent: RequestOptions = {}) =>
  send(url, 'POST', CARDS, { bearer: key, body: virtual, ...sent })
const askPaying = (payload: object, sent: RequestOptions = {}) =>
  ask({ ...sent, headers: { 'payment-signature': toHeader(payload) } })
const cardCount = async (): Promise<number> =>
  (await send(url, 'GET', `${CARDS}?limit=100`, { bearer: key })).body['data'].length
const stateOf = async ({ payload }: PaymentPayload) => {
  const { nonce } = payload['authorization'] as { nonce: string }
  const [row] = await db.rows<{ state: string }>(
    'select state from x402_payments where nonce = $1',
    [nonce.toLowerCase()],
  )
  return row?.state ?? 'unknown'
}

test('the official client pays once and gets its card, and the relayer pays the network', async () => {
  const payer = await chain.payer(1_000_000n)
  const before = await chain.balanceOf(chain.pay_to)
  const reply = await payingFetch(payer)(`${url}${CARDS}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(virtual),
  })
  assert.equal(reply.status, 201, await reply.clone().text())
  assert.equal(((await reply.json()) as { status: string }).status, 'active')
  const receipt = fromHeader(reply.headers.get('payment-response'))
  assert.deepEqual(
    [receipt.success, receipt.payer, receipt.network],
    [true, payer.address, 'eip155:8453'],
  )
  const mined = await chain.client.getTransactionReceipt({ hash: receipt.transaction })
  assert.equal(mined.status, 'success')
  assert.equal((await chain.balanceOf(chain.pay_to)) - before, PRICE)
  assert.equal(await chain.balanceOf(payer.address), 1_000_000n - PRICE)
  const moved = await db.rows<{ movement: string }>(
    `select movement from movements where reference_type = 'payment' order by movement`,
  )
  assert.deepEqual(
    moved.map(({ movement }) => movement),
    ['call_earned', 'call_paid', 'relayer_fee_paid'],
  )
  await assertBooksSound(db)
})

test('a price is shown only to an authorized caller whose valid call would succeed', async () => {
  assertRefused(await ask({ bearer: undefined }), 401, 'missing_token')
  assertRefused(await ask({ body: { type: 'paper' } }), 400, 'invalid_request')
  assertRefused(
    await ask({ body: { type: 'virtual', load_usd: 500 } }),
    409,
    'insufficient_balance',
  )
  const unknown = await send(url, 'GET', `${CARDS}/card_01kc3z8e5xf8m9r4t2v6w7y8za`, {
    bearer: key,
  })
  assertRefused(unknown, 404, 'not_found')
  assertRefused(await ask({ key: 'two words' }), 400, 'invalid_idempotency_key')

  const before = await cardCount()
  const due = await ask()
  assertRefused(due, 402, 'payment_required')
  assert.deepEqual(requiredBy(due), {
    x402Version: 2,
    error: 'issue_card costs 0.5 USD. Pay with PAYMENT-SIGNATURE.',
    resource: {
      url: `${service.runtime.settings.public_url}${CARDS}`,
      description: 'Issue a card.',
      mimeType: 'application/json',
    },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        asset: USDC,
        amount: '500000',
        payTo: chain.pay_to,
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2', paymentFlow: 'upfront' },
      },
    ],
  })
  assert.equal(await cardCount(), before)
})

test('a refusal before the price is stored under its key like any other', async () => {
  const sent = { key: 'too-much', body: { type: 'virtual', load_usd: 600 } }
  assertRefused(await ask(sent), 409, 'insufficient_balance')
  const again = await ask(sent)
  assert.equal(again.status, 409)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test('a repeat with the same key gets the same response and receipt free of charge', async () => {
  const payer = await chain.payer(PRICE)
  const payload = await signed(payer, requiredBy(await ask({ key: 'once' })))
  const first = await askPaying(payload, { key: 'once' })
  assert.equal(first.status, 201, first.text)
  for (const repeat of [await ask({ key: 'once' }), await askPaying(payload, { key: 'once' })]) {
    assert.equal(repeat.status, 201)
    assert.equal(repeat.text, first.text)
    assert.equal(repeat.headers.get('idempotent-replayed'), 'true')
    assert.equal(repeat.headers.get('payment-response'), first.headers.get('payment-response'))
  }
  assert.equal(await chain.balanceOf(payer.address), 0n)
})

test('a payment that was spent buys nothing more', async () => {
  const payer = await chain.payer(10n * PRICE)
  const payload = await signed(payer, requiredBy(await ask()))
  assert.equal((await askPaying(payload)).status, 201)
  const before = await cardCount()
  assertRefused(await askPaying(payload), 402, 'payment_failed')
  assertRefused(await askPaying(payload, { key: 'other' }), 402, 'payment_failed')
  const named = await askPaying(payload, { body: { ...virtual, name: 'Another' } })
  assertRefused(named, 402, 'payment_failed')
  assert.equal(await cardCount(), before)
  assert.equal(await chain.balanceOf(payer.address), 9n * PRICE)
})

test('fifty concurrent copies of one payment issue one card and are charged once', async () => {
  const payer = await chain.payer(100n * PRICE)
  const payload = await signed(payer, requiredBy(await ask()))
  const before = await cardCount()
  const replies = await Promise.all(Array.from({ length: 50 }, () => askPaying(payload)))
  const statuses = replies.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 1, statuses.join(' '))
  // Already used, still running, or too many concurrent calls: never a second card.
  assert(
    statuses.every((status) => [201, 402, 409, 503].includes(status)),
    statuses.join(' '),
  )
  assert.equal((await cardCount()) - before, 1)
  assert.equal(await chain.balanceOf(payer.address), 99n * PRICE)
})

test('twelve concurrent payers are all served: the relayer gives each its own nonce', async () => {
  const payers = []
  for (let left = 12; left > 0; left -= 1) payers.push(await chain.payer(PRICE))
  const required = requiredBy(await ask())
  const payloads = await Promise.all(payers.map((payer) => signed(payer, required)))
  const replies = await Promise.all(payloads.map((payload) => askPaying(payload)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    replies.map(() => 201),
    replies.map(({ text }) => text).join('\n'),
  )
})

type Authorization = { from: string; to: string; value: string; validBefore: string }

test('a payment that was altered, is for something else or cannot be settled does nothing', async () => {
  const payer = await chain.payer(10n * PRICE)
  const required = requiredBy(await ask())
  const good = await signed(payer, required)
  const { authorization } = good.payload as { authorization: Authorization }
  const accepting = (change: object) => ({ ...good, accepted: { ...good.accepted, ...change } })
  const permitting = (change: object) => ({
    ...good,
    payload: { ...good.payload, authorization: { ...authorization, ...change } },
  })
  const asking = async (change: object) => {
    const [first] = required.accepts
    return signed(payer, { ...required, accepts: [{ ...first, ...change }] } as typeof required)
  }
  const later_s = Number(authorization.validBefore) + 60
  const poor = await signed(await chain.payer(PRICE - 1n), required)
  const card = await send(url, 'GET', CARDS, { bearer: key })
  const other = await send(url, 'POST', `${CARDS}/${card.body['data'][0].id}/load`, {
    bearer: key,
    body: { amount_usd: 1 },
  })
  const cases: [string, object, 'payment_invalid' | 'payment_failed'][] = [
    ['another network', accepting({ network: 'eip155:1' }), 'payment_invalid'],
    [
      'signed for another network',
      { ...(await asking({ network: 'eip155:1' })), accepted: good.accepted },
      'payment_failed',
    ],
    ['another asset', accepting({ asset: chain.pay_to }), 'payment_invalid'],
    ['a smaller amount named', accepting({ amount: '1' }), 'payment_invalid'],
    ['a smaller amount signed', permitting({ value: '1' }), 'payment_invalid'],
    ['a smaller amount asked and signed', await asking({ amount: '1' }), 'payment_invalid'],
    ['another payee named', accepting({ payTo: payer.address }), 'payment_invalid'],
    ['another payee signed', permitting({ to: payer.address }), 'payment_invalid'],
    ['a later end than was signed', permitting({ validBefore: `${later_s}` }), 'payment_failed'],
    ['valid for years', await asking({ maxTimeoutSeconds: 1e8 }), 'payment_failed'],
    ['already over', await asking({ maxTimeoutSeconds: 1 }), 'payment_failed'],
    ['another scheme', accepting({ scheme: 'upto' }), 'payment_invalid'],
    ['version 1', { ...good, x402Version: 1 }, 'payment_invalid'],
    ["another operation's", await signed(payer, requiredBy(other)), 'payment_invalid'],
    ['more than the payer has', poor, 'payment_failed'],
  ]
  const before = await cardCount()
  for (const [what, payload, error] of cases) {
    const reply = await askPaying(payload)
    assert.equal(reply.body['error'], error, `${what}: ${reply.text}`)
    assert.equal(reply.status, error === 'payment_invalid' ? 400 : 402, what)
    if (reply.status === 402) requiredBy(reply)
  }
  for (const header of ['e30=', 'not base64!', toHeader([]), 'A'.repeat(10_000)]) {
    const reply = await ask({ headers: { 'payment-signature': header } })
    assert.equal(reply.body['error'], 'payment_invalid', reply.text)
  }
  assert.equal(await cardCount(), before)
  assert.equal(await chain.balanceOf(payer.address), 10n * PRICE)
  assert.equal((await askPaying(good)).status, 201, 'the unaltered one is still good')
})

test('an address on the screening list cannot pay', async () => {
  const payer = await chain.payer(PRICE)
  writeFileSync(screening_file, `${payer.address}\n`)
  const reply = await askPaying(await signed(payer, requiredBy(await ask())))
  assertRefused(reply, 402, 'payment_failed')
  assert.equal(await chain.balanceOf(payer.address), PRICE)
  writeFileSync(screening_file, '# nobody\n')
})

test('a call that is refused after it was paid for is credited, and the payment is used', async (t) => {
  const mine = await openAccount(url)
  await fundTreasury(db, mine.account_id, 10)
  const loaded = { type: 'virtual', load_usd: 10 }
  const sent = { bearer: mine.bearer, body: loaded, key: 'raced' }
  const payer = await chain.payer(PRICE)
  const payload = await signed(payer, requiredBy(await ask(sent)))
  await chain.mining(false)
  t.after(() => chain.mining(true))
  const paying = askPaying(payload, sent)
  assert(
    await eventually(async () => (await stateOf(payload)) === 'settling', { within_ms: 10_000 }),
  )
  // The money for the load goes elsewhere while the payment is on its way.
  const body = { amount_usd: 10, address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }
  const gone = await send(url, 'POST', '/v1/withdrawals', { bearer: mine.bearer, body })
  assert.equal(gone.status, 201, gone.text)
  await chain.mining(true)
  const refused = await paying
  assertRefused(refused, 409, 'insufficient_balance')
  assert.equal(fromHeader(refused.headers.get('payment-response')).success, true)
  assert.equal(await stateOf(payload), 'owed')

  await tasks.run(['resolve_payments'])
  assert.equal(await stateOf(payload), 'credited')
  assert.equal((await balanceOf(url, mine.bearer)).balance_usd, 0.5)
  const history = await send(url, 'GET', '/v1/balance/history?type=refund', { bearer: mine.bearer })
  assert.equal(history.body['data'][0].amount_usd, 0.5)
  assert.equal((await askPaying(payload, sent)).headers.get('idempotent-replayed'), 'true')
  await assertBooksSound(db)
})

test('an unused payment without an account is refunded on chain', async (t) => {
  const eve = await openAccount(url)
  const body = { email: eve.email, password: PASSWORD }
  const payer = await chain.payer(50_000n)
  const due = await send(url, 'POST', '/v1/sessions', { body })
  const payload = await signed(payer, requiredBy(due))
  await chain.mining(false)
  t.after(() => chain.mining(true))
  const headers = { 'payment-signature': toHeader(payload) }
  const paying = send(url, 'POST', '/v1/sessions', { body, headers })
  assert(await eventually(async () => (await stateOf(payload)) === 'settling', WAIT))
  const suspended = await operate(url, 'POST', `/accounts/${eve.account_id}/suspend`)
  assert.equal(suspended.status, 200, suspended.text)
  await chain.mining(true)
  assertRefused(await paying, 403, 'account_suspended')
  assert.equal(await chain.balanceOf(payer.address), 0n)
  for (let pass = 0; pass < 2; pass += 1) await tasks.run(['resolve_payments'])
  assert.equal(await stateOf(payload), 'refunded')
  assert.equal(await chain.balanceOf(payer.address), 50_000n)
  await assertBooksSound(db)
})

test('a read can cost something too, and what it shows is not shown before', async () => {
  const list = await send(url, 'GET', CARDS, { bearer: key })
  const path = `${CARDS}/${list.body['data'][0].id}`
  const payer = await chain.payer(10_000n)
  const due = await send(url, 'GET', path, { bearer: key })
  assertRefused(due, 402, 'payment_required')
  const headers = { 'payment-signature': toHeader(await signed(payer, requiredBy(due))) }
  const paid = await send(url, 'GET', path, { bearer: key, headers })
  assert.equal(paid.status, 200, paid.text)
  assert.equal(paid.body['id'], list.body['data'][0].id)
  assertRefused(await send(url, 'GET', path, { bearer: key, headers }), 402, 'payment_failed')
})

test("the operator's reconciliation finds every coin that calls have brought in", async () => {
  const { status, body, text } = await operate(url, 'GET', '/reconciliation')
  assert.equal(status, 200, text)
  const { paid_calls, violations } = body
  assert.deepEqual(violations, [])
  const held = await chain.balanceOf(chain.pay_to)
  assert.equal(paid_calls.on_chain_usd, Number(held) / 1e6)
  assert.equal(paid_calls.difference_usd, 0)
  assert.equal(paid_calls.credited_usd, 0.5)
  assert.equal(paid_calls.owed_usd, 0)
  assert(paid_calls.relayer_fees_usd > 0)
})

test('the limits, OpenAPI and the tools show the prices', async () => {
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer: key })
  assert.deepEqual(limits.body['prices'], {
    issue_card: 0.5,
    get_card: 0.01,
    load_card: 0.25,
    sign_in: 0.05,
  })
  const { paths } = (await send(url, 'GET', '/openapi.json')).body
  assert.deepEqual(paths['/cards'].post['x-price'], {
    currency: 'USD',
    protocol: 'x402',
    issue_card: '0.5',
  })
  assert.equal(paths['/cards'].get['x-price'], undefined)
  const card = await send(url, 'GET', '/.well-known/mcp/server-card.json')
  const tools = card.body['tools'] as { name: string; description: string }[]
  const issue = tools.find(({ name }) => name === 'issue_card')
  assert.match(issue?.description ?? '', /Each call costs 0\.5 USD/)
  await assertBooksSound(db)
})
