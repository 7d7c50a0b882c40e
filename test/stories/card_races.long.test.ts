import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { callCard, getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { authorize, follow, forceCapture, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

async function balanceOf(bearer: string): Promise<number> {
  return (await send(url, 'GET', '/v1/balance', { bearer })).body.balance_usd
}

for (const [verb, code] of [
  ['freeze', 'card_frozen'],
  ['cancel', 'card_cancelled'],
] as const) {
  test(`purchases approved before a concurrent ${verb} are held, all others are declined`, async () => {
    const spender = await openSpender(service, { usd: 100 })
    const { key, card } = spender
    const purchases: Promise<Transaction>[] = []
    for (let at = 0; at < 20; at += 1) purchases.push(authorize(url, spender, { amount: 1 }))
    const stopped = await callCard(url, { id: card.id, verb }, { bearer: key })
    assert.equal(stopped.status, 200, stopped.text)
    // Sent after the response, so all of these must be declined.
    for (let at = 0; at < 5; at += 1) purchases.push(authorize(url, spender, { amount: 1 }))
    const all = await Promise.all(purchases)
    for (const late of all.slice(20)) assert.equal(late.decline_code, code)
    const approved = all.filter(({ status }) => status === 'pending')
    for (const other of all.filter(({ status }) => status !== 'pending')) {
      assert.deepEqual([other.status, other.decline_code], ['declined', code])
    }
    const after = await getCard(url, key, card.id)
    assert.equal(after.held_usd, approved.length)
    const spendable = verb === 'cancel' ? await balanceOf(key) : after.balance_usd
    assert.equal(spendable, 100 - approved.length)
    await assertBooksSound(runtime.db)
  })
}

test('refunds and reversals of a cancelled card credit the balance', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const { key, card } = spender
  const bought = await authorize(url, spender, { amount: 30 })
  await follow(url, spender, { id: bought.id, verb: 'capture' })
  const open = await authorize(url, spender, { amount: 20 })
  await callCard(url, { id: card.id, verb: 'cancel' }, { bearer: key })
  assert.equal(await balanceOf(key), 50)

  await follow(url, spender, { id: bought.id, verb: 'refund', amount: 10 })
  assert.equal(await balanceOf(key), 60)
  await follow(url, spender, { id: open.id, verb: 'reverse', amount: 5 })
  assert.equal(await balanceOf(key), 65)
  await follow(url, spender, { id: open.id, verb: 'capture', amount: 15 })
  assert.equal(await balanceOf(key), 65)
  // A forced capture is never refused; for a cancelled card it debits the balance.
  await forceCapture(url, spender, { amount: 5 })
  assert.equal(await balanceOf(key), 60)

  const after = await getCard(url, key, card.id)
  assert.deepEqual([after.balance_usd, after.held_usd], [0, 0])
  const { body } = await send(url, 'GET', '/v1/balance/history?type=refund', { bearer: key })
  assert.deepEqual(
    body.data.map(({ amount_usd }: { amount_usd: number }) => amount_usd),
    [10],
  )
  await assertBooksSound(runtime.db)
})
