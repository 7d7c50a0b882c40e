import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { assertLedgerSound } from '#test/support/money.ts'
import { dollarsByPurse, load, moveOf, settle, stamp } from '#test/support/moves.ts'
import { move } from './move.ts'
import { post } from './post.ts'
import { cardPurse, network, operator, receivable } from './purse.ts'

let clone: TestDatabase
let db: Database
before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url)
})
after(async () => {
  await db.close()
  await clone.drop()
})

const balances = (account_id: string) => dollarsByPurse(db, account_id)
const requireSoundBooks = () => assertLedgerSound(db)

const owe = (account_id: string, amount: number) =>
  moveOf(account_id, { movement: 'dispute_owed', from: receivable, to: operator, amount })

test('the debt of an account is separate, and incoming money pays it first', async () => {
  const account_id = await insertBareAccount(db)
  const moves = [owe(account_id, 7), settle(account_id, 5), settle(account_id, 5)]
  await db.transaction((tx) => post(tx, moves, stamp()))
  assert.deepEqual(await balances(account_id), { receivable: 0n, treasury: 3n })
  await requireSoundBooks()
})

test('a debt is paid in the transaction of the single movement that brings money', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [owe(account_id, 7)], stamp()))
  const short = await db.transaction((tx) => move(tx, settle(account_id, 5), stamp()))
  assert.equal(short.treasury_micros, 0n)
  const over = await db.transaction((tx) => move(tx, settle(account_id, 5), stamp()))
  assert.deepEqual([over.to_balance_micros, over.treasury_micros], [5_000_000n, 3_000_000n])
  assert.deepEqual(await balances(account_id), { receivable: 0n, treasury: 3n })
  await requireSoundBooks()
})

test('the treasury balance pays a new debt immediately', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [settle(account_id, 5), owe(account_id, 7)], stamp()))
  assert.deepEqual(await balances(account_id), { receivable: -2n, treasury: 0n })
  await requireSoundBooks()
})

test('a card pays a debt with what comes in, and not with what it held before', async () => {
  const account_id = await insertBareAccount(db)
  const card = cardPurse('a')
  const refund = moveOf(account_id, {
    movement: 'spend_refunded',
    from: network,
    to: card,
    amount: 3,
  })
  const funded = [settle(account_id, 5), load(account_id, 'a', 5), owe(account_id, 4)]
  await db.transaction((tx) => post(tx, funded, stamp()))
  await db.transaction((tx) => move(tx, refund, stamp()))
  assert.deepEqual(await balances(account_id), {
    receivable: -1n,
    treasury: 0n,
    carda: 5n,
    holda: 0n,
  })
  await db.transaction((tx) => move(tx, refund, stamp()))
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 0n,
    carda: 7n,
    holda: 0n,
  })
  await requireSoundBooks()
})

test('money that the first version kept beside a debt pays it at the next movement', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [settle(account_id, 10)], stamp()))
  await db.transaction(async (tx) => {
    const row = { from_kind: 'receivable', to_kind: 'operator', amount_micros: 7_000_000n }
    await tx.run(
      `insert into movements (account_id, id, movement, from_kind, from_balance_micros, to_kind,
              amount_micros, reference_type, reference_id, description, created_at)
       values ($1, $2, 'dispute_owed', $3, $4, $5, $6, 'test', 'one', 'A test.', now())`,
      [
        account_id,
        stamp().newId('bal', new Date()),
        row.from_kind,
        -row.amount_micros,
        row.to_kind,
        row.amount_micros,
      ],
    )
    await tx.run(
      `update purses set balance_micros = $2 where account_id = $1 and kind = 'receivable'`,
      [account_id, -row.amount_micros],
    )
  })
  await assert.rejects(
    db.transaction((tx) => move(tx, load(account_id, 'a', 4), stamp())),
    { code: 'insufficient_balance' },
  )
  await db.transaction((tx) => move(tx, load(account_id, 'a', 2), stamp()))
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 1n,
    carda: 2n,
    holda: 0n,
  })
  await requireSoundBooks()
})
