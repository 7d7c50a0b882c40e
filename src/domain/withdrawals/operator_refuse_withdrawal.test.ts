import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLedgerSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal } from '#test/support/withdrawal_room.ts'
import { operatorRefuseWithdrawal } from './operator_refuse_withdrawal.ts'

const room = await openMoneyRoom()
const { db } = room
const refuse = (id: string) => room.operate((context) => operatorRefuseWithdrawal(context, { id }))

test('a refused withdrawal returns the whole amount, with an event and an audit entry', async () => {
  const withdrawal = await openWithdrawal(room, { step: 'review' })
  const { value, events, entries } = await refuse(withdrawal.id)
  assert.deepEqual([value.status, value.status_reason], ['failed', 'refused'])
  assert.deepEqual([events[0]?.type, events[0]?.amount_micros], ['withdrawal.failed', 20_000_000n])
  assert.equal(entries[0]?.action, 'refuse_withdrawal')
  const [purse] = await db.rows<{ balance_micros: bigint }>(
    `select balance_micros from purses where account_id = $1 and kind = 'treasury'`,
    [withdrawal.account_id],
  )
  assert.equal(purse?.balance_micros, 100_000_000n)
  await assertLedgerSound(db)
})

test('of concurrent refusals one returns the money', async () => {
  const { id, account_id } = await openWithdrawal(room, { step: 'review' })
  const refusals = await Promise.allSettled([refuse(id), refuse(id), refuse(id)])
  assert.equal(refusals.filter(({ status }) => status === 'fulfilled').length, 1)
  const [purse] = await db.rows<{ balance_micros: bigint }>(
    `select balance_micros from purses where account_id = $1 and kind = 'treasury'`,
    [account_id],
  )
  assert.equal(purse?.balance_micros, 100_000_000n)
  await assertLedgerSound(db)
})

test('refuses a withdrawal that does not await an operator, and an unknown one', async () => {
  const { id } = await openWithdrawal(room)
  await assert.rejects(refuse(id), { code: 'invalid_request', status: 409 })
  await assert.rejects(refuse('wd_unknown'), { code: 'not_found' })
})
