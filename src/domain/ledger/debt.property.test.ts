import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { assertLedgerSound } from '#test/support/money.ts'
import { pursesOf, stamp } from '#test/support/moves.ts'
import { move } from './move.ts'
import { type Move, post } from './post.ts'
import {
  cardPurse,
  chain,
  holdPurse,
  network,
  operator,
  payout,
  receivable,
  treasury,
} from './purse.ts'

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
const LENGTH = Number(process.env['FLORIN_TEST_LENGTH'] ?? 1)

type Terms = Pick<Move, 'movement' | 'from' | 'to'>

const terms = fc.constantFrom<Terms>(
  { movement: 'topup_settled', from: chain, to: treasury },
  { movement: 'adjusted_up', from: operator, to: treasury },
  { movement: 'dispute_credited', from: operator, to: treasury },
  { movement: 'card_loaded', from: treasury, to: cardPurse('a') },
  { movement: 'card_unloaded', from: cardPurse('a'), to: treasury },
  { movement: 'card_replaced', from: cardPurse('a'), to: cardPurse('b') },
  { movement: 'spend_held', from: cardPurse('b'), to: holdPurse('b') },
  { movement: 'hold_released', from: holdPurse('b'), to: cardPurse('b') },
  { movement: 'hold_returned', from: holdPurse('b'), to: treasury },
  { movement: 'spend_refunded', from: network, to: cardPurse('a') },
  { movement: 'refund_returned', from: network, to: treasury },
  { movement: 'spend_owed', from: receivable, to: network },
  { movement: 'dispute_owed', from: receivable, to: operator },
  { movement: 'withdrawal_reserved', from: treasury, to: payout },
  { movement: 'withdrawal_returned', from: payout, to: treasury },
)
const step = fc.record({ terms, amount: fc.integer({ min: 1, max: 30 }), node: fc.nat({ max: 1 }) })
type Step = { terms: Terms; amount: number; node: number }

const moveOf = (account_id: string, { terms: way, amount }: Step): Move => ({
  ...way,
  account_id,
  amount_micros: BigInt(amount),
  reference: { type: 'test', id: 'one' },
  description: 'A test.',
})

/** Too little money is a Problem; the database's own check constraint never fails. */
function requireRefusal(cause: { code?: string }): void {
  assert.match(String(cause.code), /^insufficient_/)
}

/** The expected balances without the ledger: incoming money pays the debt first. */
class Model {
  readonly held = new Map<string, bigint>()
  owed = 0n

  of = (key: string): bigint => this.held.get(key) ?? 0n
  #add = (key: string, by: bigint) => this.held.set(key, this.of(key) + by)

  play({ terms: { from, to }, amount }: Step): void {
    const source = `${from.kind}${from.owner_id}`
    const target = `${to.kind}${to.owner_id}`
    const micros = BigInt(amount)
    const isOurs = ['treasury', 'payout', 'card', 'hold'].includes(from.kind)
    if (isOurs && this.of(source) < micros) return
    if (isOurs) this.#add(source, -micros)
    if (from.kind === 'receivable') this.#owe(micros)
    const isIncome = to.kind === 'treasury' || ['hold', 'network'].includes(from.kind)
    const paid = to.kind !== 'network' && isIncome ? this.#least(this.owed, micros) : 0n
    this.owed -= paid
    if (['treasury', 'payout', 'card', 'hold'].includes(to.kind)) this.#add(target, micros - paid)
  }

  #owe(micros: bigint): void {
    const by_treasury = this.#least(this.of('treasury'), micros)
    this.#add('treasury', -by_treasury)
    this.owed += micros - by_treasury
  }

  #least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
}

test(`any sequence of movements pays a debt with what comes in (seed ${SEED})`, async () => {
  const [db] = nodes
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const account_id = await insertBareAccount(db)
      const model = new Model()
      for (const one of steps) {
        model.play(one)
        const playing = db.transaction<unknown>((tx) =>
          one.node === 0
            ? post(tx, [moveOf(account_id, one)], stamp())
            : move(tx, moveOf(account_id, one), stamp()),
        )
        await playing.catch(requireRefusal)
      }
      for (const { kind, owner_id, balance_micros } of await pursesOf(db, account_id)) {
        const expected = kind === 'receivable' ? -model.owed : model.of(`${kind}${owner_id}`)
        assert.equal(balance_micros, expected, `${kind} ${owner_id}`)
      }
      assert(model.owed === 0n || model.of('treasury') === 0n)
    }),
    { numRuns: 40 * LENGTH, seed: SEED },
  )
  await assertLedgerSound(db)
})

/** One snapshot: treasuries that hold money while their account owes some. */
const RICH_DEBTORS = `
  select t.account_id from purses t join purses d using (account_id)
   where t.kind = 'treasury' and t.balance_micros > 0
     and d.kind = 'receivable' and d.balance_micros < 0`

test(`no commit of two racing nodes leaves money beside a debt (seed ${SEED})`, async () => {
  const [db] = nodes
  const racing = fc.array(step, { minLength: 20, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(racing, async (steps) => {
      const account_id = await insertBareAccount(db)
      let isOver = false
      const watching = (async () => {
        while (!isOver) assert.deepEqual(await db.rows(RICH_DEBTORS), [])
      })()
      await Promise.all(
        steps.map((one) =>
          (nodes[one.node] ?? db)
            .transaction((tx) => move(tx, moveOf(account_id, one), stamp()))
            .catch(requireRefusal),
        ),
      )
      isOver = true
      await watching
    }),
    { numRuns: 15 * LENGTH, seed: SEED },
  )
  await assertLedgerSound(db)
  // The lock order alone must prevent deadlocks; a retry would hide one.
  const [{ deadlocks = -1 } = {}] = await db.rows<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  assert.equal(deadlocks, 0)
})
