import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { idMaker } from '#kernel/id.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { auditBooks, ledger_proofs } from './audit_books.ts'
import { pursesOf } from './ledger_store.ts'
import { beginPosting, type Move, move, post, type Stamp } from './post.ts'
import {
  cardPurse,
  chain,
  holdPurse,
  network,
  operator,
  payout,
  receivable,
  suspense,
  treasury,
} from './purse.ts'

let clone: TestDatabase
let db: Database
const makeId = idMaker(systemRandom.bytes)
const stamp = (now = new Date()): Stamp => ({
  now,
  newId: (prefix, at) => makeId(prefix, at.getTime()),
})

before(async () => {
  clone = await cloneDatabase()
  db = openDatabase(clone.url)
})
after(async () => {
  await db.close()
  await clone.drop()
})

type Terms = Pick<Move, 'movement' | 'from' | 'to'> & { amount: number }

function moveOf(account_id: string, { movement, from, to, amount }: Terms): Move {
  const amount_micros = BigInt(amount) * 1_000_000n
  const reference = { type: 'test', id: 'one' }
  return { movement, account_id, from, to, amount_micros, reference, description: 'A test.' }
}

const settle = (account_id: string, amount: number) =>
  moveOf(account_id, { movement: 'topup_settled', from: chain, to: treasury, amount })
const load = (account_id: string, card: string, amount: number) =>
  moveOf(account_id, { movement: 'card_loaded', from: treasury, to: cardPurse(card), amount })

async function balances(account_id: string): Promise<Record<string, bigint>> {
  const rows = await pursesOf(db, account_id)
  return Object.fromEntries(
    rows.map((row) => [row.kind + row.owner_id, row.balance_micros / 1_000_000n]),
  )
}

async function requireSoundBooks(): Promise<void> {
  const { violations } = await auditBooks(db, ledger_proofs)
  assert.deepEqual(violations, [])
}

test('moves exactly the amount, and says what both purses hold after it', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => move(tx, settle(account_id, 10), stamp()))
  const row = await db.transaction((tx) => move(tx, load(account_id, 'card_a', 4), stamp()))
  assert.equal(row.from_balance_micros, 6_000_000n)
  assert.equal(row.to_balance_micros, 4_000_000n)
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 6n,
    cardcard_a: 4n,
    holdcard_a: 0n,
  })
  await requireSoundBooks()
})

test('refuses more than the treasury holds and leaves no trace', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => move(tx, settle(account_id, 10), stamp()))
  await assert.rejects(
    db.transaction((tx) => move(tx, load(account_id, 'card_a', 11), stamp())),
    { code: 'insufficient_balance' },
  )
  assert.deepEqual(await balances(account_id), { receivable: 0n, treasury: 10n })
})

test('refuses more than the card holds in its own words', async () => {
  const account_id = await insertBareAccount(db)
  const unload = moveOf(account_id, {
    movement: 'card_unloaded',
    from: cardPurse('card_a'),
    to: treasury,
    amount: 1,
  })
  await assert.rejects(
    db.transaction((tx) => move(tx, unload, stamp())),
    { code: 'insufficient_card_balance' },
  )
})

test('a refused move of a set spoils no other', async () => {
  const account_id = await insertBareAccount(db)
  const posted = await db.transaction((tx) =>
    post(tx, [settle(account_id, 5), load(account_id, 'a', 9), load(account_id, 'a', 3)], stamp()),
  )
  assert.deepEqual(
    posted.map((row) => row !== null),
    [true, false, true],
  )
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 2n,
    carda: 3n,
    holda: 0n,
  })
  await requireSoundBooks()
})

test('holds of a card are separate from its balance, in purses and in movements', async () => {
  const account_id = await insertBareAccount(db)
  const hold = (amount: number) =>
    moveOf(account_id, { movement: 'spend_held', from: cardPurse('a'), to: holdPurse('a'), amount })
  const moves = [settle(account_id, 5), load(account_id, 'a', 3), hold(2), hold(2)]
  const posted = await db.transaction((tx) => post(tx, moves, stamp()))
  const [, , held, beyond] = posted
  assert.deepEqual([held?.from_balance_micros, held?.to_balance_micros], [1_000_000n, 2_000_000n])
  assert.equal(beyond, null)
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 2n,
    carda: 1n,
    holda: 2n,
  })
  const taken = { movement: 'hold_captured', from: holdPurse('a'), to: network, amount: 2 } as const
  await db.transaction((tx) => move(tx, moveOf(account_id, taken), stamp()))
  assert.deepEqual(await balances(account_id), {
    receivable: 0n,
    treasury: 2n,
    carda: 1n,
    holda: 0n,
  })
  await requireSoundBooks()
})

test('a set can contain movements between two external purses', async () => {
  const account_id = await insertBareAccount(db)
  const held_back = { movement: 'topup_suspended', from: chain, to: suspense, amount: 4 } as const
  const [posted] = await db.transaction((tx) => post(tx, [moveOf(account_id, held_back)], stamp()))
  assert.ok(posted)
  const [found] = await db.rows<{ micros: bigint }>(
    `select amount_micros as micros from entries where account_id = $1 and kind = 'suspense'`,
    [account_id],
  )
  assert.equal(found?.micros, 4_000_000n)
})

test('spending without a movement counts on the latest day and changes no timestamp', async () => {
  const account_id = await insertBareAccount(db)
  const card = cardPurse('a')
  await db.transaction((tx) => post(tx, [settle(account_id, 5), load(account_id, 'a', 3)], stamp()))
  const purse = async () => {
    const [row] = await db.rows<{ moved_at: Date; day: string; today: bigint; month: bigint }>(
      `select moved_at, spent_day::text as day, day_spent_micros as today,
              month_spent_micros as month
         from purses where account_id = $1 and kind = 'card'`,
      [account_id],
    )
    return row
  }
  const loaded = await purse()
  const count = (spent_day: string, day_spent_micros: bigint) =>
    db.transaction(async (tx) => {
      const posting = await beginPosting(tx, [{ account_id, ...card }], stamp())
      const month_spent_micros = day_spent_micros
      posting.countSpent(account_id, card, { spent_day, day_spent_micros, month_spent_micros })
      await posting.write()
    })
  await count('2031-06-01', 5n)
  await count('2031-05-31', 7n)
  const { moved_at } = loaded ?? {}
  assert.deepEqual(await purse(), { moved_at, day: '2031-06-01', today: 7n, month: 7n })
})

test('a movement between other purses than its own cannot be posted', async () => {
  const account_id = await insertBareAccount(db)
  const wrong = moveOf(account_id, {
    movement: 'topup_settled',
    from: operator,
    to: treasury,
    amount: 1,
  })
  await assert.rejects(
    db.transaction((tx) => move(tx, wrong, stamp())),
    /topup_settled leaves a chain/,
  )
})

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
        makeId('bal', Date.now()),
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

test('the database itself refuses a negative purse', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => move(tx, settle(account_id, 1), stamp()))
  await assert.rejects(
    db.run('update purses set balance_micros = -1 where account_id = $1', [account_id]),
    { code: '23514' },
  )
})

test('movements can be neither changed nor taken back', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => move(tx, settle(account_id, 1), stamp()))
  await assert.rejects(db.run('update movements set amount_micros = 2'), /append-only/)
  await assert.rejects(db.run('delete from movements'), /append-only/)
})

test("no treasury movement seems older than the one before it, whatever the nodes' clocks say", async () => {
  const account_id = await insertBareAccount(db)
  const now = new Date('2030-01-01T00:00:00Z')
  const behind = new Date(now.getTime() - 5_000)
  const first = await db.transaction((tx) => move(tx, settle(account_id, 1), stamp(now)))
  const second = await db.transaction((tx) => move(tx, settle(account_id, 1), stamp(behind)))
  assert.ok(second.id > first.id)
  assert.ok(second.created_at > first.created_at)
  await requireSoundBooks()
})

test('a movement that waits for a credit is covered by it', async () => {
  const account_id = await insertBareAccount(db)
  const funded = [settle(account_id, 5), load(account_id, 'a', 1)]
  await db.transaction((tx) => post(tx, funded, stamp()))
  let loading: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    await move(tx, settle(account_id, 10), stamp())
    const later = stamp(new Date(Date.now() + 1_000))
    loading = db.transaction((other) => move(other, load(account_id, 'a', 10), later))
    await setTimeout(300)
  })
  await loading
  const left = { receivable: 0n, treasury: 4n, carda: 11n, holda: 0n }
  assert.deepEqual(await balances(account_id), left)
  await requireSoundBooks()
})

test('of twenty concurrent reservations of the whole balance, exactly one succeeds', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => move(tx, settle(account_id, 10), stamp()))
  const reserve = moveOf(account_id, {
    movement: 'withdrawal_reserved',
    from: treasury,
    to: payout,
    amount: 10,
  })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => db.transaction((tx) => move(tx, reserve, stamp()))),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.deepEqual(await balances(account_id), { receivable: 0n, treasury: 0n, payout: 10n })
  await requireSoundBooks()
})
