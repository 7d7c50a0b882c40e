import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stamp } from '#domain/ledger/post.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openPaymentRoom, PRICE } from '#test/support/payment_room.ts'
import type { PaymentRow, PaymentState } from './payment.ts'
import { stampOf } from './payment_context.ts'
import {
  bookRelayerFee,
  bookSettlement,
  creditAccount,
  feeMicros,
  markRefunded,
  owe,
  spend,
} from './payment_money.ts'
import { reservePayment, stepPayment } from './payment_store.ts'

const room = await openPaymentRoom()
const { db, context, clock } = room
const account_id = await room.openAccount()
const stamp = () => stampOf(context)

const movementsOf = async ({ id }: PaymentRow) => {
  const rows = await db.rows<{ movement: string }>(
    `select movement from movements where reference_id = $1 and movement <> 'relayer_fee_paid'
      order by movement`,
    [id],
  )
  return rows.map(({ movement }) => movement)
}

/** The way of a payment to each state. */
const ways: Record<PaymentState, readonly PaymentState[]> = {
  reserved: [],
  settling: ['settling'],
  settled: ['settled'],
  spent: ['settled', 'spent'],
  failed: ['failed'],
  owed: ['settled', 'owed'],
  refunding: ['settled', 'owed', 'refunding'],
  refunded: ['settled', 'owed', 'refunding', 'refunded'],
  credited: ['settled', 'owed', 'credited'],
}

async function openAt(state: PaymentState): Promise<PaymentRow> {
  const now = clock.now()
  const leased_until = new Date(now.getTime() + 60_000)
  const row = await reservePayment(db, room.newBill({ account_id }), {
    id: context.newId('pay', now),
    now,
    leased_until,
  })
  assert(row !== undefined)
  let from: PaymentState = 'reserved'
  for (const to of ways[state]) {
    await db.transaction(async (tx) => {
      if (to === 'settled') await bookSettlement(tx, row, 'txid', stamp())
      else if (to === 'spent') await spend(tx, row, stamp())
      else if (to === 'refunded') await markRefunded(tx, row, 'txid', stamp())
      else if (to === 'credited') await creditAccount(tx, row, stamp())
      else await stepPayment(tx, row, { from: [from], to }, now)
    })
    from = to
  }
  assert.equal(await room.stateOf(row.id), state)
  return row
}

type Booking = (tx: Tx, row: PaymentRow, stamp: Stamp) => Promise<unknown>
const bookings: [string, Booking, readonly PaymentState[], PaymentState][] = [
  [
    'bookSettlement',
    (tx, row, at) => bookSettlement(tx, row, 'txid', at),
    ['reserved', 'settling'],
    'settled',
  ],
  ['owe', (tx, row, at) => owe(tx, row, 'refused', at.now), ['settled'], 'owed'],
  ['creditAccount', creditAccount, ['owed'], 'credited'],
  ['markRefunded', (tx, row, at) => markRefunded(tx, row, 'txid', at), ['refunding'], 'refunded'],
]
const STATES = Object.keys(ways) as PaymentState[]

for (const [name, book, from, to] of bookings) {
  test(`${name} moves a payment only from ${from.join(' or ')} to ${to}`, async () => {
    for (const state of STATES) {
      const row = await openAt(state)
      const before = await movementsOf(row)
      await db.transaction((tx) => book(tx, row, stamp()))
      const isMoved = from.includes(state)
      assert.equal(await room.stateOf(row.id), isMoved ? to : state)
      if (!isMoved) assert.deepEqual(await movementsOf(row), before, state)
    }
  })
}

test('spend books the call as earned, and throws unless the payment is settled', async () => {
  const row = await openAt('settled')
  await db.transaction((tx) => spend(tx, row, stamp()))
  assert.deepEqual(await movementsOf(row), ['call_earned', 'call_paid'])
  for (const state of STATES.filter((one) => one !== 'settled')) {
    const other = await openAt(state)
    await assert.rejects(
      db.transaction((tx) => spend(tx, other, stamp())),
      /changed its state/,
      state,
    )
  }
})

test('a payment that another request took over cannot be spent', async () => {
  const row = await openAt('settled')
  const stale = { ...row, request_id: 'another' }
  await assert.rejects(
    db.transaction((tx) => spend(tx, stale, stamp())),
    /changed its state/,
  )
  assert.equal(await room.stateOf(row.id), 'settled')
})

test('a credit goes to the treasury of the calling account', async () => {
  const own = await room.openAccount()
  const row = await room.openSettled({ account_id: own })
  await db.transaction(async (tx) => {
    await owe(tx, row, 'refused', clock.now())
    await creditAccount(tx, row, stamp())
  })
  const [purse] = await db.rows<{ balance_micros: bigint }>(
    `select balance_micros from purses where account_id = $1 and kind = 'treasury'`,
    [own],
  )
  assert.equal(purse?.balance_micros, PRICE)
})

test('the fee of a transfer is booked once, at the cost of the operator', async () => {
  const row = await room.openSettled({ account_id })
  const fee = { txid: row.txid ?? '', ok: true, fee_wei: 10n ** 18n, native_usd: 3_000 }
  for (let time = 0; time < 3; time += 1) {
    await db.transaction((tx) => bookRelayerFee(tx, row, fee, stamp()))
  }
  const fees = await db.rows<{ account_id: string }>(
    `select account_id from movements where reference_id = $1 and movement = 'relayer_fee_paid'`,
    [row.id],
  )
  assert.deepEqual(fees, [{ account_id: 'programme' }])
})

test('a network fee is converted to USD and rounded up', () => {
  assert.equal(feeMicros(0n, 3_000), 0n)
  assert.equal(feeMicros(1n, 3_000), 1n)
  assert.equal(feeMicros(10n ** 18n, 3_000), 3_000_000_000n)
  assert.equal(feeMicros(946_000_000_000n, 3_000), 2_838n)
  assert.equal(feeMicros(333_333_334n, 3_000), 2n)
})

test('the books stay sound through all of it', () => assertBooksSound(db))
