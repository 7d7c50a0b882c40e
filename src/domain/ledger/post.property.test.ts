import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { assertLedgerSound } from '#test/support/money.ts'
import { pursesOf, stamp } from '#test/support/moves.ts'
import { type Move, post } from './post.ts'
import { cardPurse, chain, holdPurse, network, payout, treasury } from './purse.ts'

let clone: TestDatabase
let nodes: [Database, Database]

before(async () => {
  clone = await cloneDatabase()
  nodes = [openDatabase(clone.url), openDatabase(clone.url)]
})
after(async () => {
  await Promise.all(nodes.map((db) => db.close()))
  await clone.drop()
})

const SEED = Number(process.env['FLORIN_SEED'] ?? Date.now() % 2 ** 31)

/** The long test runs the same property this many times more often. */
const LENGTH = Number(process.env['FLORIN_TEST_LENGTH'] ?? 1)

const terms = fc.constantFrom<Pick<Move, 'movement' | 'from' | 'to'>>(
  { movement: 'topup_settled', from: chain, to: treasury },
  { movement: 'card_loaded', from: treasury, to: cardPurse('a') },
  { movement: 'card_loaded', from: treasury, to: cardPurse('b') },
  { movement: 'card_unloaded', from: cardPurse('a'), to: treasury },
  { movement: 'card_replaced', from: cardPurse('a'), to: cardPurse('b') },
  { movement: 'card_replaced', from: cardPurse('b'), to: cardPurse('a') },
  { movement: 'spend_held', from: cardPurse('b'), to: holdPurse('b') },
  { movement: 'hold_captured', from: holdPurse('b'), to: network },
  { movement: 'withdrawal_reserved', from: treasury, to: payout },
  { movement: 'withdrawal_returned', from: payout, to: treasury },
)
const step = fc.record({
  terms,
  amount: fc.integer({ min: 1, max: 30 }),
  account: fc.nat({ max: 2 }),
  node: fc.nat({ max: 1 }),
})
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 25,
})

test(`sets of movements that race on two nodes conserve money (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (sets) => {
      const [db] = nodes
      const accounts = await Promise.all([1, 2, 3].map(() => insertBareAccount(db)))
      const expected = new Map<string, bigint>()
      const runs = await Promise.all(
        sets.map(async (set) => {
          const moves = set.map(({ terms, amount, account }): Move => {
            const account_id = accounts[account] ?? ''
            const reference = { type: 'test', id: 'one' }
            const amount_micros = BigInt(amount)
            return { ...terms, account_id, amount_micros, reference, description: 'A test.' }
          })
          const node = nodes[set[0]?.node ?? 0] ?? db
          return node.transaction((tx) => post(tx, moves, stamp()))
        }),
      )
      for (const row of runs.flat()) {
        if (row === null) continue
        const from = `${row.account_id}|${row.from_kind}|${row.from_owner_id}`
        const to = `${row.account_id}|${row.to_kind}|${row.to_owner_id}`
        expected.set(from, (expected.get(from) ?? 0n) - row.amount_micros)
        expected.set(to, (expected.get(to) ?? 0n) + row.amount_micros)
      }
      for (const account_id of accounts) {
        for (const { kind, owner_id, balance_micros } of await pursesOf(db, account_id)) {
          assert.equal(balance_micros, expected.get(`${account_id}|${kind}|${owner_id}`) ?? 0n)
        }
      }
      await assertLedgerSound(db)
    }),
    { numRuns: 10 * LENGTH, seed: SEED },
  )
  // The lock order alone must prevent deadlocks; a retry would hide one.
  const [{ deadlocks = -1 } = {}] = await nodes[0].rows<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  assert.equal(deadlocks, 0)
})
