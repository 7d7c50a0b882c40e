import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import {
  authorize,
  callSandbox,
  follow,
  forceCapture,
  getTransaction,
  openSpender,
} from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

type Spender = Awaited<ReturnType<typeof openSpender>>

/** Arms a fault for the next message of this account. */
async function arm({ key }: Spender, fault: string | null): Promise<void> {
  const reply = await callSandbox(url, key, 'network/faults', { fault })
  assert.deepEqual([reply.status, reply.body], [200, { fault }])
}

async function moneyOf({ key, card }: Spender): Promise<[number, number]> {
  const { balance_usd, held_usd } = await getCard(url, key, card.id)
  return [balance_usd, held_usd]
}

/** The link has recovered: an ordinary purchase goes through, and the books are right. */
async function assertRecovered(spender: Spender): Promise<void> {
  const [balance, held] = await moneyOf(spender)
  const next = await authorize(url, spender, { amount: 1 })
  assert.equal(next.status, 'pending')
  assert.deepEqual(await moneyOf(spender), [balance - 1, held + 1])
  await assertBooksSound(runtime.db)
}

for (const fault of ['repeat', 'cut', 'garbage', 'slow_reader']) {
  test(`${fault}: a purchase is held once, captured once and refunded once`, async () => {
    const spender = await openSpender(service, { usd: 100 })
    await arm(spender, fault)
    const held = await authorize(url, spender, { amount: 10 })
    assert.equal(held.status, 'pending')
    assert.deepEqual(await moneyOf(spender), [90, 10])
    await arm(spender, fault)
    await follow(url, spender, { id: held.id, verb: 'capture' })
    assert.deepEqual(await moneyOf(spender), [90, 0])
    await arm(spender, fault)
    await follow(url, spender, { id: held.id, verb: 'refund', amount: 4 })
    assert.deepEqual(await moneyOf(spender), [94, 0])
    await arm(spender, fault)
    await forceCapture(url, spender, { amount: 4 })
    assert.deepEqual(await moneyOf(spender), [90, 0])
    await assertRecovered(spender)
  })
}

test('reorder: a purchase whose reversal came first is declined and holds nothing', async () => {
  const spender = await openSpender(service, { usd: 100 })
  await arm(spender, 'reorder')
  const declined = await authorize(url, spender, { amount: 10 })
  assert.deepEqual([declined.status, declined.decline_code], ['declined', 'reversed_before_auth'])
  assert.deepEqual(await moneyOf(spender), [100, 0])
  await assertRecovered(spender)
})

test('late: a purchase that the network gives up on is released', async () => {
  const spender = await openSpender(service, { usd: 100 })
  await arm(spender, 'late')
  const { id } = await authorize(url, spender, { amount: 10 })
  assert.equal((await getTransaction(url, spender.key, id)).status, 'reversed')
  assert.deepEqual(await moneyOf(spender), [100, 0])
  await assertRecovered(spender)
})

test('a fault strikes once, only its own account, and can be taken back', async () => {
  const [spender, other] = [await openSpender(service), await openSpender(service)]
  await arm(spender, 'reorder')
  assert.equal((await authorize(url, other, { amount: 1 })).status, 'pending')
  await arm(spender, null)
  assert.equal((await authorize(url, spender, { amount: 1 })).status, 'pending')
  await arm(spender, 'reorder')
  assert.equal((await authorize(url, spender, { amount: 1 })).status, 'declined')
  assert.equal((await authorize(url, spender, { amount: 1 })).status, 'pending')
})

test('an unknown fault is refused with a sentence, and arming one needs a bearer', async () => {
  const spender = await openSpender(service)
  const wrong = await callSandbox(url, spender.key, 'network/faults', { fault: 'flood' })
  assert.deepEqual([wrong.status, wrong.body.error], [400, 'invalid_request'])
  assert.match(wrong.body.message, /one of repeat, reorder, late, cut, garbage, slow_reader/)
  const nobody = await send(url, 'POST', '/sandbox/v1/network/faults', { body: { fault: 'cut' } })
  assert.equal(nobody.status, 401)
})
