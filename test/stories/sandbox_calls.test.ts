import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { holdRows } from '#test/support/held_rows.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RISK: '{"refund_review_usd": 0}' } })
const { url, sandbox } = service
const { bearer } = await openAccount(url)

const STRANGER = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

const make = async () => {
  const body = { amount_usd: 10, asset: 'USDT', chain: 'tron' }
  return (await send(url, 'POST', '/v1/topups', { bearer, body })).body
}

test('a sandbox call distinguishes a missing bearer from an unknown one', async () => {
  const { id } = await make()
  const paths = [`topups/${id}/deposit`, 'cards/card_x/authorize', 'clock/advance']
  for (const path of [...paths, 'withdrawals/wd_x/confirm', 'disputes/dsp_x/close']) {
    const ask = (sent: { bearer?: string }) =>
      send(url, 'POST', `/sandbox/v1/${path}`, { ...sent, body: {} })
    assertRefused(await ask({}), 401, 'missing_token')
    assertRefused(await ask({ bearer: 'fls_test_nonsense' }), 401, 'invalid_token')
  }
})

test('a sandbox call has the standard response headers, whether it succeeds or fails', async () => {
  const { id } = await make()
  const stranger = await openAccount(url)
  const deposit = { amount_usd: 10 }
  const calls: [string, object, string, number][] = [
    [`topups/${id}/deposit`, deposit, bearer, 200],
    [`topups/${id}/deposit`, deposit, stranger.bearer, 404],
    [`topups/${id}/deposit`, {}, bearer, 400],
    ['withdrawals/wd_x/confirm', {}, bearer, 404],
    ['disputes/dsp_x/answer', { text: 'x' }, bearer, 404],
    ['clock/advance', { seconds: 1 }, bearer, 200],
  ]
  for (const [path, body, as, status] of calls) {
    const reply = await send(url, 'POST', `/sandbox/v1/${path}`, { bearer: as, body })
    assert.equal(reply.status, status, reply.text)
    assert.match(reply.headers.get('request-id') ?? '', /^req_/)
    assert.ok(reply.headers.get('ratelimit-policy') && reply.headers.get('ratelimit'))
    if (status !== 200) assert.equal(reply.body['request_id'], reply.headers.get('request-id'))
  }
})

test('a call whose account is suspended while it waits for the chain says so', async () => {
  const person = await openAccount(url)
  const body = { amount_usd: 10 }
  const { id } = (await send(url, 'POST', '/v1/topups', { bearer: person.bearer, body })).body
  const key = [person.account_id, id]
  const held = await holdRows(service.owner_db, (tx) =>
    tx.rows('select from topups where account_id = $1 and id = $2 for update', key),
  )
  const sent = { bearer: person.bearer, body }
  const head = sandbox.node.head().number
  const deposit = send(url, 'POST', `/sandbox/v1/topups/${id}/deposit`, sent)
  const isMined = async () => sandbox.node.head().number > head
  assert(await eventually(isMined, { within_ms: 5_000 }), 'the deposit is on the chain')
  await operate(url, 'POST', `/accounts/${person.account_id}/suspend`)
  await held.release()
  assertRefused(await deposit, 403, 'account_suspended')
})

test('the largest deposit arrives, and leaves enough for others', async () => {
  for (const amount_usd of [2 ** 33, 10]) {
    const { id } = await make()
    const sent = { bearer, body: { amount_usd } }
    const reply = await send(url, 'POST', `/sandbox/v1/topups/${id}/deposit`, sent)
    assert.deepEqual([reply.body['status'], reply.body['received_usd']], ['confirming', amount_usd])
  }
})

test('a deposit that the chain has no coins for is refused', async () => {
  const { id } = await make()
  const { node } = sandbox
  const everything = { to: STRANGER, amount_micros: node.balanceOf(node.exchange) - 5_000_000n }
  node.transferUsdt(everything)
  node.mine()
  const sent = { bearer, body: { amount_usd: 10 } }
  const reply = await send(url, 'POST', `/sandbox/v1/topups/${id}/deposit`, sent)
  assertRefused(reply, 422, 'amount_out_of_range')
  assert.match(reply.body['message'], /only \$5\.00 left/)
  // Back to the sender, for the tests below.
  node.transferUsdt({ ...everything, from: STRANGER, to: node.exchange })
  node.mine()
})

test('a deposit that no books could hold is refused, and nothing is on its way', async () => {
  const { id } = await make()
  for (const amount_usd of [1e13, 1e300]) {
    const sent = { bearer, body: { amount_usd } }
    const reply = await send(url, 'POST', `/sandbox/v1/topups/${id}/deposit`, sent)
    assertRefused(reply, 422, 'amount_out_of_range')
  }
  const topup = await send(url, 'GET', `/v1/topups/${id}`, { bearer })
  assert.deepEqual([topup.body['status'], topup.body['txids']], ['awaiting', []])
})

test('a withdrawal that is completed can be confirmed again, and cannot fail', async () => {
  const holder = await openHolder(service, 20)
  const sent = { bearer: holder.bearer, body: { amount_usd: 20, address: STRANGER } }
  const { id } = (await send(url, 'POST', '/v1/withdrawals', sent)).body
  const call = (name: string) =>
    send(url, 'POST', `/sandbox/v1/withdrawals/${id}/${name}`, { bearer: holder.bearer })
  for (const name of ['confirm', 'confirm']) {
    assert.equal((await call(name)).body['status'], 'completed')
  }
  assertRefused(await call('fail'), 409, 'invalid_request')
})

test('expire refuses an amount, and a refund that is held for an operator is reported', async () => {
  const holder = await openHolder(service, 100)
  const card = await issueCard(url, holder.key, { load_usd: 50 })
  const sandboxCall = (path: string, body: object) =>
    send(url, 'POST', `/sandbox/v1/${path}`, { bearer: holder.key, body })
  const { id } = (await sandboxCall(`cards/${card.id}/authorize`, { amount: 20 })).body
  const expiry = await sandboxCall(`transactions/${id}/expire`, { amount: 5 })
  assertRefused(expiry, 400, 'invalid_request')
  assert.equal((await sandboxCall(`transactions/${id}/capture`, {})).status, 200)
  const refund = await sandboxCall(`transactions/${id}/refund`, { amount: 30 })
  assertRefused(refund, 409, 'invalid_request')
  assert.match(refund.body['message'], /operator/)
})

test('an amount is refused with its bounds in its currency', async () => {
  const holder = await openHolder(service, 10)
  const card = await issueCard(url, holder.key, { type: 'virtual' })
  for (const [body, bounds] of [
    [{ amount: 100_000_000 }, 'at most 99999999.99, with up to 2 decimal places for USD'],
    [{ amount: 0.5, currency: 'JPY' }, 'at most 9999999999, with up to 0 decimal places for JPY'],
  ] as const) {
    const path = `/sandbox/v1/cards/${card.id}/authorize`
    const reply = await send(url, 'POST', path, { bearer: holder.key, body })
    assertRefused(reply, 422, 'invalid_amount')
    assert.equal(reply.body['message'], `amount must be more than 0 and ${bounds}.`)
  }
})

test('clock/advance says that zero is not enough', async () => {
  const reply = await send(url, 'POST', '/sandbox/v1/clock/advance', {
    bearer,
    body: { seconds: 0 },
  })
  assertRefused(reply, 400, 'invalid_request')
  assert.match(reply.body['message'], /above 0/)
})
