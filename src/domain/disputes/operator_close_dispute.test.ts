import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLedgerSound } from '#test/support/money.ts'
import { type MoneyRoom, openMoneyRoom } from '#test/support/money_room.ts'
import { soundBooks } from '#test/support/sound_books.ts'
import { operatorCloseDispute } from './operator_close_dispute.ts'

const books = await soundBooks()

/** A program with one open dispute. */
async function openRoom() {
  const room = await openMoneyRoom({}, books)
  const [dispute] = await room.db.rows<{ id: string; account_id: string; credit: bigint }>(
    `select id, account_id, amount_micros - taken_back_micros as credit from disputes
      where status = 'open'`,
  )
  assert(dispute !== undefined)
  return { room, dispute }
}

const close = (room: MoneyRoom, input: Parameters<typeof operatorCloseDispute>[1]) =>
  room.operate((context) => operatorCloseDispute(context, input))

/** The money of an account on all its cards and in its treasury. */
async function moneyOf({ db }: MoneyRoom, account_id: string): Promise<bigint> {
  const [row] = await db.rows<{ sum: bigint }>(
    `select sum(balance_micros)::bigint as sum from purse_balances
      where account_id = $1 and kind in ('treasury', 'card')`,
    [account_id],
  )
  return row?.sum ?? 0n
}

test('a won dispute leaves the credit with the customer, with an event and an audit entry', async () => {
  const { room, dispute } = await openRoom()
  const { id, account_id } = dispute
  const before = await moneyOf(room, account_id)
  const { value, events, entries } = await close(room, { id, outcome: 'won' })
  assert.deepEqual([value.status, value.outcome, value.closed_by], ['closed', 'won', 'operator'])
  assert.equal(value.resolved_at, room.clock.now().toISOString())
  assert.deepEqual(
    events.map(({ type, severity }) => [type, severity]),
    [['dispute.resolved', 'info']],
  )
  assert.deepEqual(entries, [{ action: 'close_dispute', resource: { type: 'dispute', id } }])
  assert.equal(await moneyOf(room, account_id), before)
  await assertLedgerSound(room.db)
})

test('a lost dispute takes back exactly the provisional credit, and says why', async () => {
  const { room, dispute } = await openRoom()
  const { id, account_id, credit } = dispute
  assert(credit > 0n)
  const before = await moneyOf(room, account_id)
  const { value, events } = await close(room, { id, outcome: 'lost', text: 'Delivered.' })
  assert.deepEqual([value.outcome, value.response?.text], ['lost', 'Delivered.'])
  assert.equal(events[0]?.severity, 'warning')
  assert.equal(await moneyOf(room, account_id), before - credit)
  await assertLedgerSound(room.db)
})

test('of concurrent decisions exactly one counts; a closed dispute stays closed', async () => {
  const { room, dispute } = await openRoom()
  const { id } = dispute
  const outcomes = ['won', 'lost', 'won', 'lost'] as const
  const decisions = await Promise.allSettled(
    outcomes.map((outcome) => close(room, { id, outcome })),
  )
  assert.equal(decisions.filter(({ status }) => status === 'fulfilled').length, 1)
  await assert.rejects(close(room, { id, outcome: 'lost' }), { code: 'dispute_closed' })
  await assert.rejects(close(room, { id: 'dsp_unknown', outcome: 'won' }), { code: 'not_found' })
  await assertLedgerSound(room.db)
})
