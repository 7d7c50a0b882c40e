import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { stamp } from '#test/support/moves.ts'
import { move } from './move.ts'
import { type MovementName, movements, statementSideOf } from './movements.ts'
import { beginPosting, type Move, post } from './post.ts'
import {
  cardPurse,
  chain,
  fees,
  gas,
  holdPurse,
  network,
  operator,
  type Purse,
  payers,
  payout,
  prepaid,
  receivable,
  suspense,
  treasury,
} from './purse.ts'

let clone: TestDatabase
let db: Database
before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url, { pool_size: 2 })
})
after(async () => {
  await db.close()
  await clone.drop()
})

const [card, other_card, hold] = [cardPurse('a'), cardPurse('b'), holdPurse('a')]

/** Both sides of every movement, written from docs/money.md and not from the table. */
const both_sides: Readonly<Record<MovementName, readonly [Purse, Purse]>> = {
  topup_settled: [chain, treasury],
  topup_suspended: [chain, suspense],
  suspense_released: [suspense, treasury],
  suspense_refunded: [suspense, chain],
  withdrawal_reserved: [treasury, payout],
  withdrawal_sent: [payout, chain],
  withdrawal_fee_taken: [payout, fees],
  withdrawal_returned: [payout, treasury],
  card_loaded: [treasury, card],
  card_unloaded: [card, treasury],
  card_replaced: [card, other_card],
  spend_held: [card, hold],
  hold_released: [hold, card],
  hold_returned: [hold, treasury],
  hold_captured: [hold, network],
  spend_taken: [card, network],
  spend_owed: [receivable, network],
  spend_refunded: [network, card],
  refund_returned: [network, treasury],
  debt_paid_by_card: [card, receivable],
  debt_paid_by_treasury: [treasury, receivable],
  dispute_credited: [operator, treasury],
  dispute_reversed: [treasury, operator],
  dispute_owed: [receivable, operator],
  call_paid: [payers, prepaid],
  call_earned: [prepaid, fees],
  call_credited: [prepaid, treasury],
  call_refunded: [prepaid, payers],
  relayer_fee_paid: [fees, gas],
  adjusted_up: [operator, treasury],
  adjusted_down: [treasury, operator],
}

const AMOUNT = 7n
const DEBT = 7n
const FUNDS = 100n

/** An account with money in the purse that the movement leaves, or with the debt that it pays. */
async function openAccount([from, to]: readonly [Purse, Purse]): Promise<string> {
  const account_id = await insertBareAccount(db)
  const insert = (kind: string, owner_id: string, balance: bigint, held: bigint) =>
    db.run(
      `insert into purses (account_id, kind, owner_id, balance_micros, held_micros, moved_at)
       values ($1, $2, $3, $4, $5, now() - interval '1 hour')`,
      [account_id, kind, owner_id, balance, held],
    )
  await insert('treasury', '', from.kind === 'treasury' ? FUNDS : 0n, 0n)
  await insert('payout', '', FUNDS, 0n)
  await insert('card', 'a', FUNDS, FUNDS)
  await insert('card', 'b', FUNDS, 0n)
  await insert('receivable', '', to.kind === 'receivable' ? -DEBT : 0n, 0n)
  return account_id
}

const keyOf = ({ kind, owner_id }: Purse): string => `${kind} ${owner_id}`

/** Every purse of the account: stored balances, and the entries of external purses. */
async function readPurses(account_id: string): Promise<Map<string, bigint>> {
  const rows = await db.rows<Purse & { micros: bigint }>(
    `select kind, owner_id, balance_micros as micros from purse_balances where account_id = $1
     union all
     select kind, owner_id, sum(amount_micros)::bigint from entries
      where account_id = $1
        and kind not in ('treasury', 'payout', 'card', 'hold', 'receivable')
      group by kind, owner_id`,
    [account_id],
  )
  return new Map(rows.map((row) => [keyOf(row), row.micros]))
}

const ways: Record<string, (one: Move) => Promise<unknown>> = {
  'in one statement': (one) => db.transaction((tx) => move(tx, one, stamp())),
  'in a set': (one) => db.transaction((tx) => post(tx, [one], stamp())),
}

/** The ledger itself pays a debt from the treasury, as soon as the treasury is locked. */
const payDebt = ({ account_id }: Move) =>
  db.transaction(async (tx) => {
    const posting = await beginPosting(tx, [{ account_id, ...treasury }], stamp())
    await posting.write()
  })

for (const [name, sides] of Object.entries(both_sides)) {
  test(`${name} debits its source, credits its target, and changes nothing else`, async () => {
    const [from, to] = sides
    const isByLedger = name === 'debt_paid_by_treasury'
    for (const [way, postOne] of Object.entries(isByLedger ? { 'by itself': payDebt } : ways)) {
      const account_id = await openAccount(sides)
      const before = await readPurses(account_id)
      await postOne({
        movement: name as MovementName,
        account_id,
        from,
        to,
        amount_micros: AMOUNT,
        reference: { type: 'test', id: 'one' },
        description: 'A test.',
      })
      const expected = new Map(before)
      expected.set(keyOf(from), (before.get(keyOf(from)) ?? 0n) - AMOUNT)
      expected.set(keyOf(to), (before.get(keyOf(to)) ?? 0n) + AMOUNT)
      assert.deepEqual(await readPurses(account_id), expected, way)
      const posted = await db.rows<{ movement: string }>(
        'select movement from movements where account_id = $1',
        [account_id],
      )
      assert.deepEqual(posted, [{ movement: name }], way)
    }
  })
}

test('a movement has a kind on statements exactly if it crosses the border of the account', () => {
  const inside = new Set<string>(['treasury', 'card', 'hold'])
  for (const [name, terms] of Object.entries(movements)) {
    const crosses = inside.has(terms.from) !== inside.has(terms.to)
    assert.equal('statement' in terms, crosses, name)
    if (crosses) assert.equal(statementSideOf(name as MovementName).isDebit, inside.has(terms.from))
  }
})
