import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ConcurrentUpdate } from '#platform/postgres/concurrent_update.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase, type TestDatabase } from '#test/support/database.ts'
import { assertLedgerSound } from '#test/support/money.ts'
import { dollarsByPurse, load, moveOf, settle, stamp } from '#test/support/moves.ts'
import { lockPurses } from './ledger_store.ts'
import { move } from './move.ts'
import { beginPosting, type Move, post } from './post.ts'
import {
  cardPurse,
  chain,
  holdPurse,
  network,
  operator,
  payout,
  suspense,
  treasury,
} from './purse.ts'

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
  const movement = 'topup_settled'
  const wrong_source = moveOf(account_id, { movement, from: operator, to: treasury, amount: 1 })
  const wrong_target = moveOf(account_id, { movement, from: chain, to: payout, amount: 1 })
  for (const postOne of [
    (one: Move) => db.transaction((tx) => move(tx, one, stamp())),
    (one: Move) => db.transaction((tx) => post(tx, [one], stamp())),
  ]) {
    await assert.rejects(postOne(wrong_source), /topup_settled leaves a chain/)
    await assert.rejects(postOne(wrong_target), /topup_settled reaches a treasury/)
  }
  assert.deepEqual(await balances(account_id), {})
})

test('between existing purses, the last micro-dollar can be moved and not one more', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [settle(account_id, 5), load(account_id, 'a', 1)], stamp()))
  const all = load(account_id, 'a', 4)
  const beyond = { ...all, amount_micros: all.amount_micros + 1n }
  await assert.rejects(
    db.transaction((tx) => move(tx, beyond, stamp())),
    { code: 'insufficient_balance' },
  )
  const [refused] = await db.transaction((tx) => post(tx, [beyond], stamp()))
  assert.equal(refused, null)
  const moved = await db.transaction((tx) => move(tx, all, stamp()))
  assert.deepEqual([moved.from_balance_micros, moved.to_balance_micros], [0n, 5_000_000n])
  await requireSoundBooks()
})

test('a posting locks every purse that it may change, new ones too', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [settle(account_id, 5)], stamp()))
  const findUnlocked = () =>
    db.rows('select kind from purses where account_id = $1 for update skip locked', [account_id])
  await db.transaction(async (tx) => {
    const owned = [treasury, cardPurse('a')].map((purse) => ({ account_id, ...purse }))
    await beginPosting(tx, owned, stamp())
    assert.deepEqual(await findUnlocked(), [])
  })
  assert.equal((await findUnlocked()).length, 3)
})

test('a purse that changed after it was read without a lock is not overwritten', async () => {
  const account_id = await insertBareAccount(db)
  await db.transaction((tx) => post(tx, [settle(account_id, 5), load(account_id, 'a', 3)], stamp()))
  const read = await db.transaction((tx) => lockPurses(tx, [{ account_id, ...cardPurse('a') }]))
  await db.transaction((tx) => move(tx, load(account_id, 'a', 1), stamp()))
  const hold = moveOf(account_id, {
    movement: 'spend_held',
    from: cardPurse('a'),
    to: holdPurse('a'),
    amount: 2,
  })
  const stale = db.transaction(async (tx) => {
    const posting = await beginPosting(tx, [], stamp(), read)
    posting.move(hold)
    await posting.write()
  })
  await assert.rejects(stale, ConcurrentUpdate)
  const unchanged = { receivable: 0n, treasury: 1n, carda: 4n, holda: 0n }
  assert.deepEqual(await balances(account_id), unchanged)
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
