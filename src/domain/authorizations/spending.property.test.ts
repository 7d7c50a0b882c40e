import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { openCardBatch, transactionOf, USD } from '#test/support/card_batch.ts'
import { convertAtPurchaseRate } from './price.ts'
import { countAuthorization, reverseUsage } from './spending.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))
const dollars = fc.bigInt({ min: 0n, max: 40n })

test(`counting and then reversing everything returns the counters to their start, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(dollars, { maxLength: 8 }), dollars, async (parts, start) => {
      const batch = await openCardBatch()
      const { state, card } = batch
      const authorization = transactionOf(batch.send('authorize', { usd: USD }))
      reverseUsage(state, card, { authorization, micros: USD })
      Object.assign(card.spent, { daily: start, monthly: start })
      let already = 0n
      for (const micros of parts) {
        countAuthorization(state, card, { authorization, micros, already })
        already += micros
      }
      assert.deepEqual([card.spent.daily, card.spent.monthly], [start + already, start + already])
      for (const micros of parts) reverseUsage(state, card, { authorization, micros })
      assert.deepEqual([card.spent.daily, card.spent.monthly], [start, start])
    }),
    { seed: SEED, numRuns: 200 },
  )
})

test('a reversal lowers only the counters of the day and month it was counted in', async () => {
  const cases: [string, bigint, bigint][] = [
    ['2031-03-04', 0n, 0n],
    ['2031-03-03', 10n * USD, 0n],
    ['2031-02-28', 10n * USD, 10n * USD],
  ]
  for (const [day, daily, monthly] of cases) {
    const batch = await openCardBatch()
    const authorization = transactionOf(batch.send('authorize'))
    authorization.created_at = new Date(`${day}T10:00:00.000Z`)
    reverseUsage(batch.state, batch.card, { authorization, micros: 10n * USD })
    assert.deepEqual([batch.card.spent.daily, batch.card.spent.monthly], [daily, monthly], day)
  }
})

test(`no counter falls below zero, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(dollars, dollars, dollars, async (daily, monthly, micros) => {
      const batch = await openCardBatch()
      const authorization = transactionOf(batch.send('authorize'))
      Object.assign(batch.card.spent, { daily, monthly })
      reverseUsage(batch.state, batch.card, { authorization, micros })
      assert(batch.card.spent.daily >= 0n && batch.card.spent.monthly >= 0n)
    }),
    { seed: SEED, numRuns: 200 },
  )
})

test(`a part of a purchase converts to whole cents, all of it to its amount, seed ${SEED}`, () => {
  const cents = fc.bigInt({ min: 0n, max: 10n ** 9n })
  const minor = fc.bigInt({ min: 1n, max: 10n ** 9n })
  fc.assert(
    fc.property(cents, minor, minor, (amount_cents, total, one) => {
      const amount_micros = amount_cents * 10_000n
      const purchase = { amount_micros, amount_minor: total } as TransactionRow
      const part = one < total ? one : total
      const converted = convertAtPurchaseRate(purchase, part)
      assert.equal(converted % 10_000n, 0n)
      assert(converted >= 0n && converted <= amount_micros)
      assert.equal(convertAtPurchaseRate(purchase, total), amount_micros)
      assert.equal(convertAtPurchaseRate(purchase, 0n), 0n)
    }),
    { seed: SEED, numRuns: 500 },
  )
})
