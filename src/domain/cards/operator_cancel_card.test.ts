import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBareCard } from '#test/support/issuer.ts'
import { assertLedgerSound, wealthOf } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorCancelCard } from './operator_cancel_card.ts'

const room = await openMoneyRoom()
const cancel = (id: string) => room.operate((context) => operatorCancelCard(context, { id }))
const balances = (account_id: string) =>
  room.db.rows<{ kind: string; balance_micros: bigint }>(
    `select kind, balance_micros from purses
      where account_id = $1 and kind in ('card', 'treasury') order by kind`,
    [account_id],
  )

test('the balance of the card returns to the account, with an event and an audit entry', async () => {
  const { id, account_id } = await insertBareCard(room, { usd: 30, treasury_usd: 5 })
  const before = await wealthOf(room.db, account_id)
  const { value, events, entries } = await cancel(id)
  assert.deepEqual([value.status, value.cancel_reason], ['cancelled', 'admin'])
  assert.deepEqual(await balances(account_id), [
    { kind: 'card', balance_micros: 0n },
    { kind: 'treasury', balance_micros: 35_000_000n },
  ])
  assert.deepEqual(
    events.map(({ type, previous_attributes }) => [type, previous_attributes]),
    [['card.cancelled', { status: 'active' }]],
  )
  assert.deepEqual(entries, [{ action: 'cancel_card', resource: { type: 'card', id } }])
  assert.equal(await wealthOf(room.db, account_id), before)
  await assertLedgerSound(room.db)
})

test('of concurrent cancellations one moves the balance and emits the event', async () => {
  const { id, account_id } = await insertBareCard(room, { usd: 30 })
  const done = await Promise.all([cancel(id), cancel(id), cancel(id)])
  assert.equal(done.flatMap(({ events }) => events).length, 1)
  assert.equal((await balances(account_id))[1]?.balance_micros, 30_000_000n)
  await assertLedgerSound(room.db)
})

test('refuses an unknown ID', async () => {
  await assert.rejects(cancel('card_unknown'), { code: 'not_found' })
})
