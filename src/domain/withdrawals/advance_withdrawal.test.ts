import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { eventTypes } from '#test/support/topups.ts'
import { openWithdrawal, signedRow, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import {
  beginAttempt,
  completeWithdrawal,
  failWithdrawal,
  holdForReview,
  holdMismatch,
  markBroadcasted,
  recordBlock,
  resumeAttempt,
  storeReplacement,
  storeTransfer,
} from './advance_withdrawal.ts'
import { findCustodyBooks } from './custody_store.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import { findTransfers, insertTransfer, lockWithdrawal } from './withdrawal_store.ts'

const room = await openMoneyRoom()
const { db } = room
const dependencies = withdrawalDependencies(room)
const sender = room.chain.hot_wallet

const reload = (withdrawal: WithdrawalRow) => db.transaction((tx) => lockWithdrawal(tx, withdrawal))
const balances = async ({ account_id }: WithdrawalRow) => {
  const rows = await db.rows<{ kind: string; usd: number }>(
    `select kind, (sum(amount_micros) / 1000000)::float as usd from entries
      where account_id = $1 and kind in ('treasury', 'payout') group by kind order by kind desc`,
    [account_id],
  )
  return Object.fromEntries(rows.map(({ kind, usd }) => [kind, usd]))
}

async function openSigned(fields = {}): Promise<WithdrawalRow> {
  const withdrawal = await openWithdrawal(room, fields)
  const signed = await storeTransfer(dependencies, withdrawal, { sender, transfer: signedRow() })
  assert(signed !== null)
  return signed
}

const shared_account = await room.openAccount(10_000)

async function openAt(step: WithdrawalRow['step']): Promise<WithdrawalRow> {
  const account_id = shared_account
  if (step === 'review') return openWithdrawal(room, { account_id, step })
  if (step === 'reserved') return openWithdrawal(room, { account_id })
  const signed = await openSigned({ account_id })
  if (step === 'completed') await completeWithdrawal(dependencies, signed, positionOf(signed))
  if (step === 'failed') await failWithdrawal(dependencies, signed, 'reverted')
  return reload(signed)
}

const positionOf = ({ txid }: WithdrawalRow) => ({ block_number: 7, txid: txid ?? '' })
const STEPS = ['review', 'reserved', 'signed', 'completed', 'failed'] as const

type Advance = (withdrawal: WithdrawalRow) => Promise<unknown>

/** Every function, and the only steps from which it changes a withdrawal. */
const functions: [string, Advance, readonly string[]][] = [
  [
    'storeTransfer',
    (withdrawal) => storeTransfer(dependencies, withdrawal, { sender, transfer: signedRow() }),
    ['reserved'],
  ],
  [
    'storeReplacement',
    (withdrawal) => storeReplacement(dependencies, withdrawal, signedRow({ attempt: 2 })),
    ['signed'],
  ],
  ['markBroadcasted', (withdrawal) => markBroadcasted(dependencies, withdrawal), ['signed']],
  [
    'recordBlock',
    (withdrawal) => recordBlock(dependencies, withdrawal, positionOf(withdrawal)),
    ['signed'],
  ],
  [
    'completeWithdrawal',
    (withdrawal) => completeWithdrawal(dependencies, withdrawal, positionOf(withdrawal)),
    ['signed'],
  ],
  [
    'holdMismatch',
    (withdrawal) => holdMismatch(dependencies, withdrawal, positionOf(withdrawal)),
    ['signed'],
  ],
  ['beginAttempt', (withdrawal) => beginAttempt(dependencies, withdrawal), ['signed']],
  [
    'resumeAttempt',
    async (withdrawal) => {
      const last = signedRow({ attempt: 9 })
      await insertTransfer(db, withdrawal, last)
      await resumeAttempt(dependencies, withdrawal, last)
    },
    ['reserved'],
  ],
  [
    'holdForReview',
    (withdrawal) =>
      holdForReview(dependencies, withdrawal, { step: 'reserved', next_try_at: room.clock.now() }),
    ['reserved'],
  ],
]

for (const [name, advance, from] of functions) {
  test(`${name} changes a withdrawal only from ${from.join(' or ')}`, async () => {
    for (const step of STEPS) {
      const before = await openAt(step)
      await advance(before)
      const after = await reload(before)
      assert.equal(after.version > before.version, from.includes(step), step)
    }
  })
}

test('failWithdrawal refuses a withdrawal that has ended', async () => {
  for (const step of ['completed', 'failed'] as const) {
    const ended = await openAt(step)
    await assert.rejects(failWithdrawal(dependencies, ended, 'x'), /only an open withdrawal/)
  }
})

test('completing sends the net amount to the chain and the fee to us, once', async () => {
  const signed = await openSigned()
  await Promise.all(
    [1, 2, 3].map(() => completeWithdrawal(dependencies, signed, positionOf(signed))),
  )
  const { status, step, txid, block_number } = await reload(signed)
  assert.deepEqual([status, step, txid, block_number], ['completed', 'completed', signed.txid, 7n])
  const moves = await db.rows<{ movement: string; usd: number }>(
    `select movement, (amount_micros / 1000000)::int as usd from movements
      where reference_id = $1 order by movement`,
    [signed.id],
  )
  assert.deepEqual(
    moves.map(({ movement, usd }) => [movement, usd]),
    [
      ['withdrawal_fee_taken', 1],
      ['withdrawal_reserved', 20],
      ['withdrawal_sent', 19],
    ],
  )
  assert.deepEqual(await balances(signed), { treasury: 80, payout: 0 })
})

test('a withdrawal without a fee posts no fee', async () => {
  const signed = await openSigned({ fee_micros: 0n })
  await completeWithdrawal(dependencies, signed, positionOf(signed))
  const fees = await db.rows(
    `select 1 from movements where reference_id = $1 and movement = 'withdrawal_fee_taken'`,
    [signed.id],
  )
  assert.deepEqual([fees.length, await balances(signed)], [0, { treasury: 80, payout: 0 }])
})

test('failing returns the whole amount once, with its reason and an event', async () => {
  const signed = await openSigned()
  await failWithdrawal(dependencies, signed, 'reverted')
  await failWithdrawal(dependencies, signed, 'again')
  const { status, status_reason } = await reload(signed)
  assert.deepEqual([status, status_reason], ['failed', 'reverted'])
  assert.deepEqual(await balances(signed), { treasury: 100, payout: 0 })
})

test('failing does nothing if another attempt has begun since the caller looked', async () => {
  const signed = await openSigned()
  await beginAttempt(dependencies, signed)
  await failWithdrawal(dependencies, signed, 'reverted')
  const next = await reload(signed)
  assert.deepEqual([next.step, next.attempt], ['reserved', 2])
  // The transfer of the next attempt may be mined, so nothing may return to the treasury.
  await storeTransfer(dependencies, next, { sender, transfer: signedRow({ attempt: 2 }) })
  await failWithdrawal(dependencies, signed, 'reverted')
  const { step, attempt } = await reload(signed)
  assert.deepEqual([step, attempt], ['signed', 2])
  assert.deepEqual(await balances(signed), { treasury: 80, payout: 20 })
})

test('signed bytes of an earlier attempt are not stored', async () => {
  const withdrawal = await openWithdrawal(room)
  const transfer = signedRow({ attempt: 2 })
  assert.equal(await storeTransfer(dependencies, withdrawal, { sender, transfer }), null)
  assert.deepEqual(await findTransfers(db, withdrawal), [])
})

test('signed bytes of a suspended account are not stored', async () => {
  const withdrawal = await openWithdrawal(room)
  await db.run(`update accounts set status = 'suspended' where id = $1`, [withdrawal.account_id])
  const transfer = signedRow()
  assert.equal(await storeTransfer(dependencies, withdrawal, { sender, transfer }), null)
  assert.deepEqual(await findTransfers(db, withdrawal), [])
})

test('of concurrent transfers with one nonce one is stored; the others get a new attempt', async () => {
  const withdrawals = await Promise.all([1, 2, 3, 4].map(() => openWithdrawal(room)))
  const stored = await Promise.all(
    withdrawals.map((withdrawal) =>
      storeTransfer(dependencies, withdrawal, { sender, transfer: signedRow({ nonce: 41n }) }),
    ),
  )
  assert.equal(stored.filter((row) => row !== null).length, 1)
  const rows = await Promise.all(withdrawals.map(reload))
  assert.deepEqual(rows.map(({ step, attempt }) => `${step} ${attempt}`).sort(), [
    'reserved 2',
    'reserved 2',
    'reserved 2',
    'signed 1',
  ])
  const lower = { sender, transfer: signedRow({ nonce: 40n }) }
  assert.equal(await storeTransfer(dependencies, await openWithdrawal(room), lower), null)
  const next = { sender, transfer: signedRow({ nonce: 42n }) }
  assert.notEqual(await storeTransfer(dependencies, await openWithdrawal(room), next), null)
})

test('a replacement that was signed before a crash is stored with the nonce of its attempt', async () => {
  const withdrawal = await openWithdrawal(room)
  const first = { sender, transfer: signedRow({ nonce: 50n }) }
  const signed = await storeTransfer(dependencies, withdrawal, first)
  assert(signed !== null)
  await beginAttempt(dependencies, signed)
  const transfer = signedRow({ attempt: 2, nonce: 50n })
  const stored = await storeTransfer(dependencies, await reload(signed), { sender, transfer })
  assert.deepEqual([stored?.step, stored?.txid], ['signed', transfer.txid])
})

test('withdrawal.broadcasted is emitted once', async () => {
  const signed = await openSigned()
  await Promise.all([1, 2, 3].map(() => markBroadcasted(dependencies, signed)))
  assert.deepEqual(await eventTypes(db, signed.account_id), ['withdrawal.broadcasted'])
  assert.equal((await reload(signed)).status, 'broadcasted')
})

test('a block is recorded once and removed when a reorg took it', async () => {
  const signed = await openSigned()
  for (const position of [positionOf(signed), positionOf(signed), null]) {
    await recordBlock(dependencies, signed, position)
  }
  const { version, block_number } = await reload(signed)
  assert.deepEqual([version - signed.version, block_number], [2n, null])
})

test('a mismatch moves no money, and its coins count as in flight', async () => {
  const signed = await openSigned({ asset: 'HELD' })
  await markBroadcasted(dependencies, signed)
  assert.equal(await holdMismatch(dependencies, signed, positionOf(signed)), true)
  const { status, step, status_reason, block_number } = await reload(signed)
  assert.deepEqual(
    [status, step, status_reason, block_number],
    ['broadcasted', 'review', 'transfer_mismatch', 7n],
  )
  assert.deepEqual(await balances(signed), { treasury: 80, payout: 20 })
  const books = (await findCustodyBooks(db)).find(({ asset }) => asset === 'HELD')
  assert.equal(books?.in_flight_micros, 19_000_000n)
})

test('the books stay sound through all of it', () => assertBooksSound(db))
