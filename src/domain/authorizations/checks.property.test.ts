import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { BATCH_NOW, cardRequest, new_card } from '#test/support/card_batch.ts'
import { type CheckInput, findObjections, isExpired, withFailure } from './checks.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))
const options = { seed: SEED, numRuns: 3_000 }
/** Few cents and a micro-dollar more or less, so that boundaries are met often. */
const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 12n }), fc.constantFrom(0n, 1n))
  .map(([cents, more]) => cents * 10_000n + more)

/** True in one of ten cases, so that many situations are approved. */
const rarely = fc.constantFrom(...Array<boolean>(9).fill(false), true)

const situation: fc.Arbitrary<CheckInput> = fc
  .record({
    kind: fc.constantFrom('authorize', 'increment', 'verify', 'credit', 'debit'),
    usd: amount,
    status: fc.constantFrom(...Array(8).fill('active'), 'frozen', 'cancelled'),
    per_transaction: amount,
    daily: amount,
    monthly: amount,
    spent: amount,
    available: amount,
    owed: fc.oneof({ weight: 9, arbitrary: fc.constant(0n) }, amount),
    is_paused: rarely,
    is_reversed: rarely,
    has_pin: rarely,
  })
  .map(({ kind, usd, has_pin, status, spent, ...rest }) => ({
    request: cardRequest(new_card, kind as 'authorize', { usd, has_pin }),
    card: {
      ...new_card,
      status: status as 'active',
      limits: {
        per_transaction: rest.per_transaction,
        daily: rest.daily,
        monthly: rest.monthly,
      },
      spent: { ...new_card.spent, daily: spent, monthly: spent },
    },
    now: BATCH_NOW,
    challenge: null,
    incremented: 0n,
    available: rest.available,
    owed: rest.owed,
    is_paused: rest.is_paused,
    is_reversed: rest.is_reversed,
  }))

test(`an approval fits the balance and every limit, seed ${SEED}`, () => {
  let approvals = 0
  fc.assert(
    fc.property(situation, (one) => {
      if (findObjections(one).length > 0) return
      const { request, card, available, owed } = one
      assert.equal(card.status, 'active')
      assert(!one.is_paused && !one.is_reversed && !request.has_pin)
      const spends = !['credit', 'verify', 'balance'].includes(request.kind)
      const spent = spends ? (request.charge.micros ?? 0n) : 0n
      if (spent === 0n) return
      assert(spent <= available && owed === 0n)
      assert(spent <= card.limits.per_transaction)
      assert(card.spent.daily + spent <= card.limits.daily)
      assert(card.spent.monthly + spent <= card.limits.monthly)
      approvals += 1
    }),
    options,
  )
  assert(approvals > 20, `${approvals} approvals`)
})

test(`more money and higher limits never add an objection, seed ${SEED}`, () => {
  fc.assert(
    fc.property(situation, amount, (one, more) => {
      const { card } = one
      const raised = {
        per_transaction: card.limits.per_transaction + more,
        daily: card.limits.daily + more,
        monthly: card.limits.monthly + more,
      }
      const richer = { ...one, available: one.available + more, card: { ...card, limits: raised } }
      const before = findObjections(one)
      for (const code of findObjections(richer)) assert(before.includes(code), code)
    }),
    options,
  )
})

test(`each objection appears at most once and in the same order, seed ${SEED}`, () => {
  const all = findObjections({
    ...(fc.sample(situation, { seed: SEED, numRuns: 1 })[0] as CheckInput),
    is_paused: true,
    is_reversed: true,
  })
  assert.deepEqual(all.slice(0, 2), ['reversed_before_auth', 'programme_paused'])
  const order = ['card_cancelled', 'card_frozen', 'pin_not_supported', 'invalid_amount']
  const funds = ['limit_per_transaction', 'limit_daily', 'limit_monthly', 'insufficient_funds']
  fc.assert(
    fc.property(situation, (one) => {
      const found = findObjections(one)
      assert.equal(new Set(found).size, found.length)
      const ranks = found.map((code) => [...order, ...funds].indexOf(code)).filter((at) => at >= 0)
      assert.deepEqual(ranks, ranks.toSorted())
    }),
    options,
  )
})

test(`a card is valid on every day of its month, and on no day after the next one, seed ${SEED}`, () => {
  const month = fc.record({
    exp_year: fc.integer({ min: 2024, max: 2040 }),
    exp_month: fc.integer({ min: 1, max: 12 }),
  })
  fc.assert(
    fc.property(month, fc.nat({ max: 27 }), (card, day) => {
      const start = Date.UTC(card.exp_year, card.exp_month - 1, 1 + day)
      assert.equal(isExpired(card, new Date(start)), false)
      assert.equal(isExpired(card, new Date(Date.UTC(card.exp_year, card.exp_month, 2))), true)
    }),
    options,
  )
})

test(`at most the last five failures are kept, none older than a day, seed ${SEED}`, () => {
  const ages = fc.array(fc.integer({ min: 0, max: 2 * 86_400_000 }), { maxLength: 12 })
  fc.assert(
    fc.property(ages, (ages_ms) => {
      const failed_at = ages_ms
        .toSorted((a, b) => b - a)
        .map((age) => new Date(BATCH_NOW.getTime() - age))
      const kept = withFailure({ failed_at }, BATCH_NOW)
      assert(kept.length <= 5)
      assert.equal(kept.at(-1), BATCH_NOW)
      for (const at of kept) assert(BATCH_NOW.getTime() - at.getTime() < 86_400_000)
    }),
    options,
  )
})
