import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import { type CardBatch, openCardBatch, USD } from '#test/support/card_batch.ts'
import type { RequestKind } from './request.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))

const KINDS = [
  'authorize',
  'increment',
  'debit',
  'verify',
  'advise',
  'advise_declined',
  'capture',
  'refund',
  'reverse',
  'expire',
] as const satisfies readonly RequestKind[]

/** A message about one of the transactions so far, or about none. */
const message = fc.record({
  kind: fc.constantFrom(...KINDS),
  cents: fc.integer({ min: 1, max: 6_000 }),
  about: fc.option(fc.nat({ max: 9 })),
  replacement: fc.option(fc.bigInt({ min: 0n, max: 5_000n })),
  is_final: fc.boolean(),
})
const card_status = fc.constantFrom('active', 'frozen', 'cancelled')

const sum = (rows: readonly TransactionRow[], field: 'amount_micros' | 'held_micros') =>
  rows.reduce((total, row) => total + row[field], 0n)

const of = (rows: readonly TransactionRow[], type: TransactionRow['type']) =>
  rows.filter((row) => row.type === type)

function assertSound(batch: CardBatch, start_usd: number): void {
  const { made } = batch.state
  const { card, held, treasury, owed } = batch.balances()
  assert(card >= 0 && held >= 0 && treasury >= 0 && owed >= 0, 'no purse is below zero')
  const micros = (usd: number) => BigInt(Math.round(usd * 1e6))
  const authorizations = of(made, 'authorization')
  assert.equal(micros(held), sum(authorizations, 'held_micros'), 'holds equal the hold purse')
  const captured = sum(of(made, 'capture'), 'amount_micros')
  const settled = of(made, 'refund').filter(({ status }) => status === 'settled')
  const paid = captured - sum(settled, 'amount_micros')
  assert.equal(
    micros(card + held + treasury - owed),
    micros(start_usd) - paid,
    'money is conserved',
  )
  for (const row of authorizations) {
    assert(row.held_micros >= 0n && row.held_micros <= row.open_micros, 'held ≤ open')
    const isOpen = row.status === 'pending' || row.status === 'partially_captured'
    assert(row.open_micros === 0n || isOpen, `${row.status} has nothing open`)
    const captures = of(made, 'capture').filter(
      ({ authorization_id }) => authorization_id === row.id,
    )
    assert.equal(row.captured_micros, sum(captures, 'amount_micros'), 'captured = its captures')
  }
  for (const row of of(made, 'capture')) {
    assert(row.refunded_micros <= row.captured_micros, 'a capture is refunded at most once')
  }
  assert(batch.card.spent.daily >= 0n && batch.card.spent.daily <= batch.card.spent.monthly)
}

test(`random messages conserve money and keep every hold covered, seed ${SEED}`, async (t) => {
  let approvals = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 25 }),
      card_status,
      async (messages, last_status) => {
        const limits = { per_transaction: 50n * USD, daily: 150n * USD, monthly: 200n * USD }
        const batch = await openCardBatch({}, { limits })
        for (const [at, { kind, cents, about, replacement, is_final }] of messages.entries()) {
          if (at > messages.length / 2) batch.card.status = last_status
          const before = { ...batch.balances(), daily: batch.card.spent.daily }
          const row = about === null ? undefined : batch.state.made[about]
          const decision = batch.send(kind, {
            usd: BigInt(cents) * 10_000n,
            is_final,
            is_early: is_final,
            replacement_minor: replacement,
            reference: { transaction_id: row?.id ?? null },
          })
          if (decision.verdict === 'declined') {
            const after = { ...batch.balances(), daily: batch.card.spent.daily }
            assert.deepEqual(after, before, 'a decline changes nothing')
          }
          if (decision.verdict === 'approved') {
            approvals += 1
            assert.equal(batch.card.status, 'active')
            assert(batch.card.spent.daily <= 150n * USD || batch.card.spent.daily === before.daily)
          }
          assertSound(batch, 100)
        }
      },
    ),
    { seed: SEED, numRuns: 400 },
  )
  t.diagnostic(`${approvals} approvals`)
  assert(approvals > 0)
})
