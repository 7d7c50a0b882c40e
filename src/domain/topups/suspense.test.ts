import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import type { TopupRow } from './topup.ts'
import { findTopupOf } from './topup_store.ts'

const room = await openMoneyRoom()
const { db } = room

const creditedOf = async ({ account_id, id }: TopupRow) =>
  (await findTopupOf(db, account_id, id)).credited_micros

async function statesOf({ id }: TopupRow): Promise<string[]> {
  const rows = await db.rows<{ state: string }>(
    'select state from chain_transfers where topup_id = $1 order by block_number',
    [id],
  )
  return rows.map(({ state }) => state)
}

test('the deposit that reaches the minimum releases every small one before it', async () => {
  const topup = await room.openTopup(await room.openAccount())
  for (const micros of [300_000n, 300_000n, 300_000n]) await room.deposit(topup, micros)
  assert.equal(await creditedOf(topup), 0n)
  await room.deposit(topup, 100_000n)
  assert.equal(await creditedOf(topup), 1_000_000n)
  assert.deepEqual(await statesOf(topup), ['released', 'released', 'released', 'credited'])
  await assertBooksSound(db)
})

test('a deposit that awaits an operator is not released by a later one', async () => {
  for (const decision of ['block', 'review'] as const) {
    const topup = await room.openTopup(await room.openAccount())
    await room.deposit(topup, 20_000_000n, decision)
    await room.deposit(topup, 25_000_000n)
    assert.equal(await creditedOf(topup), 25_000_000n)
    assert.deepEqual(await statesOf(topup), ['held', 'credited'])
  }
  await assertBooksSound(db)
})
