import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openConnection } from '#sandbox/card_network.ts'
import { assertRefused } from '#test/support/calls.ts'
import { callCard, getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { balanceOf, file, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { printedCard } from '#test/support/mixed_storm_calls.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { authorize, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { WALLET } from '#test/support/withdrawals.ts'

/** Attempts to make, keep or move money that is not the attacker's. Each of them must fail. */
const service = await startTestService()
const { url, sandbox_host } = service
const { db } = service.runtime

const inParallel = <Value>(count: number, attack: (at: number) => Promise<Value>) =>
  Promise.all(Array.from({ length: count }, (_, at) => attack(at)))

test('amounts that are negative, zero, tiny, huge or not numbers move nothing', async () => {
  const { key, card } = await openSpender(service, { usd: 50, treasury_usd: 50 })
  const amounts = ['-1', '-0.01', '0', '1e-7', '1e308', '"5"', 'true', '[5]', 'null', '5.001']
  for (const amount of amounts) {
    for (const path of [`cards/${card.id}/load`, `cards/${card.id}/unload`, 'withdrawals']) {
      const address = path === 'withdrawals' ? `, "address": "${WALLET}"` : ''
      const raw = `{"amount_usd": ${amount}${address}}`
      const { status, text } = await send(url, 'POST', `/v1/${path}`, { bearer: key, raw })
      const expects = /^[-\d]/.test(amount) ? 422 : 400
      assert.equal(status, expects, `${path} ${amount}: ${text}`)
    }
  }
  assert.equal(await balanceOf(url, key), 50)
  assert.equal((await getCard(url, key, card.id)).balance_usd, 50)
})

test('a field that is sent twice is refused, whichever value came last', async () => {
  const { key, card } = await openSpender(service, { usd: 1, treasury_usd: 100 })
  const raw = '{"amount_usd": 1, "amount_usd": 99}'
  const reply = await send(url, 'POST', `/v1/cards/${card.id}/load`, { bearer: key, raw })
  assert.equal(reply.status, 400, reply.text)
  assert.equal(await balanceOf(url, key), 100)
})

test('the whole balance cannot be withdrawn, loaded and issued away at the same time', async () => {
  const holder = await openHolder(service, 100)
  const { id } = await issueCard(url, holder.key)
  const bearer = holder.key
  const replies = await inParallel(15, (at) => {
    if (at % 3 === 0)
      return callCard(url, { id, verb: 'load' }, { bearer, body: { amount_usd: 100 } })
    if (at % 3 === 1) {
      return send(url, 'POST', '/v1/cards', { bearer, body: { type: 'virtual', load_usd: 100 } })
    }
    const body = { amount_usd: 100, address: WALLET }
    return send(url, 'POST', '/v1/withdrawals', { bearer, body })
  })
  assert.equal(replies.filter(({ status }) => status < 300).length, 1)
  assert.equal(await balanceOf(url, bearer), 0)
  await assertBooksSound(db)
})

test('another account gains nothing by reusing an Idempotency-Key', async () => {
  const victim = await openSpender(service, { usd: 10, treasury_usd: 20 })
  const thief = await openSpender(service, { usd: 10, treasury_usd: 20 })
  const sent = { key: 'shared-key', body: { amount_usd: 5 } }
  const load = (who: typeof victim, id: string) =>
    callCard(url, { id, verb: 'load' }, { bearer: who.key, ...sent })
  const first = await load(victim, victim.card.id)
  assert.equal(first.status, 200)
  assertRefused(await load(thief, victim.card.id), 404, 'not_found')
  const own = await load(thief, thief.card.id)
  assert.equal(own.headers.get('idempotent-replayed'), null)
  assert.equal(own.body.card_id, thief.card.id)
  assert.equal((await getCard(url, victim.key, victim.card.id)).balance_usd, 15)
})

test('a purchase disputed twenty times concurrently is credited once', async () => {
  const buyer = await openBuyer(service, 40)
  const replies = await inParallel(20, () => file(url, buyer))
  assert.equal(replies.filter(({ status }) => status === 201).length, 1)
  assert.equal(await balanceOf(url, buyer.key), 40)
  await assertBooksSound(db)
})

test("another account's purchase cannot be disputed or read", async () => {
  const buyer = await openBuyer(service, 40)
  const thief = await openSpender(service)
  assertRefused(await file(url, { ...buyer, key: thief.key }), 404, 'not_found')
  for (const path of ['', '/auth']) {
    const reply = await send(url, 'GET', `/v1/transactions/${buyer.capture.id}${path}`, {
      bearer: thief.key,
    })
    assertRefused(reply, 404, 'not_found')
  }
})

test('a reveal nonce used twenty times concurrently shows the number once', async () => {
  const { key, card } = await openSpender(service)
  const reveal = (headers: Record<string, string>) =>
    send(url, 'GET', `/v1/cards/${card.id}/pan`, { bearer: key, headers })
  assert.equal((await reveal({})).status, 200)
  const headers = { 'Reveal-Nonce': randomUUID() }
  const replies = await inParallel(20, () => reveal(headers))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  const shown = replies.filter(({ text }) => /\b\d{16}\b/.test(text))
  assert.equal(shown.length, 1)
})

test("a reversal that names another card's purchase releases nothing", async () => {
  const victim = await openSpender(service, { usd: 100 })
  const thief = await openSpender(service, { usd: 100 })
  const line = await openConnection(sandbox_host.card_host_port)
  const cardOf = (who: typeof victim) => printedCard(service, who, who.card.id)
  const purchase = purchaseMessage(await cardOf(victim), 6_000)
  assert.equal((await line.send(purchase)).fields[39], '00')
  const { 7: sent, 11: stan, 37: rrn } = purchase.fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  const fields = { 37: rrn, 90: original }
  await line.send(purchaseMessage(await cardOf(thief), 6_000, { mti: '0420', fields }))
  const refund = { mti: '0220', fields: { 37: rrn, 3: '200000' } }
  await line.send(purchaseMessage(await cardOf(thief), 0, refund))
  line.end()
  const { held_usd, balance_usd } = await getCard(url, victim.key, victim.card.id)
  assert.deepEqual([held_usd, balance_usd], [60, 40])
  await assertBooksSound(db)
})

test('freezing, limits and unloading race purchases without a cent too many', async () => {
  const spender = await openSpender(service, { usd: 100, limits: { daily_usd: 50 } })
  const { key, card } = spender
  const replies = await inParallel(24, async (at) => {
    const path = `/v1/cards/${card.id}`
    if (at % 4 === 0) return send(url, 'POST', `${path}/freeze`, { bearer: key })
    if (at % 4 === 1) return send(url, 'POST', `${path}/unfreeze`, { bearer: key })
    if (at % 4 === 2)
      return send(url, 'POST', `${path}/unload`, { bearer: key, body: { amount_usd: 20 } })
    return authorize(url, spender, { amount: 20 }).then(({ status }) => ({
      status: 200,
      text: status,
    }))
  })
  assert(replies.every(({ status }) => status < 500))
  const { held_usd, balance_usd } = await getCard(url, key, card.id)
  assert(held_usd <= 50, `${held_usd} is held against a daily limit of 50`)
  assert.equal(held_usd + balance_usd + (await balanceOf(url, key)), 100)
  await assertBooksSound(db)
})

test('a stored response cannot be read with the key of another operation or card', async () => {
  const { key, card } = await openSpender(service, { usd: 10, treasury_usd: 50 })
  const other = await issueCard(url, key)
  const sent = { bearer: key, key: 'one-key', body: { amount_usd: 5 } }
  assert.equal((await callCard(url, { id: card.id, verb: 'load' }, sent)).status, 200)
  for (const target of [
    { id: card.id, verb: 'unload' },
    { id: other.id, verb: 'load' },
  ]) {
    const reply = await callCard(url, target, sent)
    assert.equal(reply.headers.get('idempotent-replayed'), null)
  }
  const changed = await callCard(
    url,
    { id: card.id, verb: 'load' },
    { ...sent, body: { amount_usd: 6 } },
  )
  assertRefused(changed, 422, 'idempotency_key_reused')
})
