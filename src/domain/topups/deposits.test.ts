import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { bareTopupRow } from '#test/support/topups.ts'
import {
  addFinalTransfer,
  closeTopup,
  findHoldReason,
  isLate,
  sumTowardsMinimum,
  type TransferRow,
  withOutcome,
  withTransfers,
} from './deposits.ts'
import type { PendingTransfer } from './topup.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))
const EXPIRY = new Date('2031-03-04T06:00:00.000Z')
const before = (ms: number) => new Date(EXPIRY.getTime() - ms)

const topup = bareTopupRow({ created_at: before(3_600_000), expires_at: EXPIRY })

const states = ['credited', 'held', 'released', 'refunding', 'refunded'] as const
const reasons = ['below_minimum', 'screening', 'kill_switch'] as const

const finals: fc.Arbitrary<TransferRow[]> = fc.uniqueArray(
  fc.record({
    txid: fc.nat({ max: 50 }).map((n) => `f${n}`),
    ordinal: fc.nat({ max: 2 }),
    block_number: fc.bigInt({ min: 1n, max: 1_000n }),
    block_at: fc.integer({ min: -7_200_000, max: 3_600_000 }).map(before),
    value_micros: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    state: fc.constantFrom(...states),
    held_reason: fc.constantFrom(...reasons, null),
    movement_id: fc.constant('bal_1'),
  }),
  { selector: ({ txid, ordinal }) => `${txid}:${ordinal}`, maxLength: 8 },
)
const pending: fc.Arbitrary<PendingTransfer[]> = fc.uniqueArray(
  fc.record({
    txid: fc.nat({ max: 50 }).map((n) => `p${n}`),
    ordinal: fc.nat({ max: 2 }),
    value: fc.bigInt({ min: 1n, max: 10n ** 12n }).map(String),
    block_number: fc.integer({ min: 1, max: 1_000 }),
    is_late: fc.boolean(),
  }),
  { selector: ({ txid, ordinal }) => `${txid}:${ordinal}`, maxLength: 5 },
)
const showTxid = (txid: string) => `0x${txid}`
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)

test(`the amounts of a top-up are the sums of its transfers, seed ${SEED}`, () => {
  fc.assert(
    fc.property(finals, pending, (some_finals, some_pending) => {
      const next = withTransfers(topup, {
        final_transfers: some_finals,
        pending: some_pending,
        showTxid,
      })
      const credited = some_finals.filter(({ state }) => ['credited', 'released'].includes(state))
      assert.equal(next.final_micros, sum(some_finals.map(({ value_micros }) => value_micros)))
      assert.equal(next.credited_micros, sum(credited.map(({ value_micros }) => value_micros)))
      assert.equal(next.pending_micros, sum(some_pending.map(({ value }) => BigInt(value))))
      assert.equal(next.status === 'confirming', some_pending.length > 0)
      assert.equal(new Set(next.txids).size, next.txids.length)
      assert.deepEqual(
        new Set(next.txids),
        new Set([...some_finals, ...some_pending].map(({ txid }) => `0x${txid}`)),
      )
      // Applying the same transfers again changes nothing.
      const again = withTransfers(next, {
        final_transfers: some_finals,
        pending: some_pending,
        showTxid,
      })
      assert.deepEqual(again, next)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test(`one more final transfer gives the same amounts as all of them together, seed ${SEED}`, () => {
  fc.assert(
    fc.property(finals, pending, (some_finals, some_pending) => {
      const rows = some_finals
        .map((row) => ({ ...row, state: row.state === 'credited' ? row.state : ('held' as const) }))
        .toSorted((a, b) => Number(a.block_number - b.block_number))
      const from = { pending: some_pending, showTxid }
      const none = withTransfers(topup, { final_transfers: [], ...from })
      const added = rows.reduce((one, row) => addFinalTransfer(one, row, 0n), none)
      const all = withTransfers(topup, { final_transfers: rows, ...from })
      assert.deepEqual({ ...added, txids: all.txids }, all)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test(`transfers that await an operator never count towards the minimum, seed ${SEED}`, () => {
  fc.assert(
    fc.property(finals, (rows) => {
      const counted = rows.filter(
        ({ state, held_reason }) =>
          ['credited', 'released'].includes(state) ||
          (state === 'held' && held_reason === 'below_minimum'),
      )
      assert.equal(sumTowardsMinimum(rows), sum(counted.map(({ value_micros }) => value_micros)))
    }),
    { seed: SEED, numRuns: 200 },
  )
})

test('holds for screening before the kill switch, and for the kill switch before the minimum', () => {
  const table = (['allow', 'review', 'block'] as const).flatMap((decision) =>
    [true, false].flatMap((is_killed) =>
      [999_999n, 1_000_000n].map(
        (counted_micros) => [decision, is_killed, counted_micros] as const,
      ),
    ),
  )
  const found = table.map(([decision, is_killed, counted_micros]) =>
    findHoldReason({
      screening: { decision, source: 'test', list_version: '1' },
      is_killed,
      counted_micros,
      minimum_micros: 1_000_000n,
    }),
  )
  assert.deepEqual(found, [
    ...['kill_switch', 'kill_switch', 'below_minimum', null],
    ...Array(8).fill('screening'),
  ])
})

test('a transfer is late from the last whole second before the window closes', () => {
  assert.equal(isLate(topup, before(1_000)), false)
  assert.equal(isLate(topup, before(999)), true)
  const closed = { ...topup, closed_at: before(60_000) }
  assert.equal(isLate(closed, before(61_000)), false)
  assert.equal(isLate(closed, before(60_999)), true)
})

test('the last final transfer decides between completed and error', () => {
  for (const reason of reasons) {
    const held = withOutcome(topup, reason, EXPIRY)
    assert.deepEqual([held.resting_status, held.resting_reason], ['error', reason])
    assert.equal(held.completed_at, null)
    const credited = withOutcome(held, null, EXPIRY)
    assert.deepEqual([credited.resting_status, credited.resting_reason], ['completed', null])
    assert.equal(credited.completed_at, EXPIRY)
  }
})

test('a pending transfer that left the chain returns an awaiting top-up with the reason reorg', () => {
  const one = { txid: 'p1', ordinal: 0, value: '5', block_number: 9, is_late: false }
  const seen = withTransfers(topup, { final_transfers: [], pending: [one], showTxid })
  const gone = withTransfers(seen, { final_transfers: [], pending: [], showTxid })
  assert.deepEqual([gone.status, gone.status_reason], ['awaiting', 'reorg'])
  const again = withTransfers(gone, { final_transfers: [], pending: [one], showTxid })
  assert.deepEqual([again.status, again.resting_reason], ['confirming', null])
})

test('a closed top-up is cancelled, and shows confirming while a transfer is pending', () => {
  for (const reason of ['expired', 'cancelled_by_user'] as const) {
    const closed = closeTopup(topup, reason, EXPIRY)
    assert.deepEqual([closed.status, closed.status_reason], ['cancelled', reason])
    const one = { txid: 'p1', ordinal: 0, value: '5', block_number: 9, is_late: true }
    const seen = withTransfers(closed, { final_transfers: [], pending: [one], showTxid })
    assert.deepEqual([seen.status, seen.status_reason, seen.is_late], ['confirming', null, true])
    const gone = withTransfers(seen, { final_transfers: [], pending: [], showTxid })
    assert.deepEqual([gone.status, gone.status_reason], ['cancelled', reason])
  }
})
