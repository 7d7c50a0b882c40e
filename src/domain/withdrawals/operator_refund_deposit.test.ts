import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLedgerSound } from '#test/support/money.ts'
import { openMoneyRoom, SENDER } from '#test/support/money_room.ts'
import { operatorRefundDeposit } from './operator_refund_deposit.ts'

const room = await openMoneyRoom()
const { db } = room
const refund = (id: string) => room.prepareAndOperate(operatorRefundDeposit, { id })

async function holdDeposit(): Promise<string> {
  const topup = await room.openTopup(await room.openAccount())
  return room.deposit(topup, 25_000_000n, 'block')
}

test('a refund is a withdrawal to the sender of the whole amount without a fee', async () => {
  const id = await holdDeposit()
  const { value, entries } = await refund(id)
  assert.deepEqual([value.status, value.status_reason], ['error', 'refunded'])
  assert.equal(entries[0]?.action, 'refund_suspense')
  const orders = await db.rows<Record<string, unknown>>(
    'select address, amount_micros, fee_micros, step from withdrawals where refund_of = $1',
    [id],
  )
  const address = room.chain.showAddress(SENDER)
  assert.deepEqual(orders, [
    { address, amount_micros: 25_000_000n, fee_micros: 0n, step: 'reserved' },
  ])
  await assertLedgerSound(db)
})

test('of concurrent refunds of one deposit exactly one succeeds', async () => {
  const id = await holdDeposit()
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => refund(id)))
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  const orders = await db.rows('select from withdrawals where refund_of = $1', [id])
  assert.equal(orders.length, 1)
})

test('refuses while the kill switch of withdrawals is on, and the deposit stays held', async () => {
  const id = await holdDeposit()
  const setKillSwitch = (on: boolean) =>
    db.run(`update kill_switches set is_on = $1 where rail = 'withdrawals'`, [on])
  await setKillSwitch(true)
  await assert.rejects(refund(id), { code: 'kill_switch_active' })
  await setKillSwitch(false)
  assert.equal((await refund(id)).value.status_reason, 'refunded')
})

test('never sends coins to a deposit address of our own', async () => {
  const id = await holdDeposit()
  const own = await room.openTopup(await room.openAccount())
  await db.run('update chain_transfers set from_address = $2 where movement_id = $1', [
    id,
    room.chain.readAddress(own.deposit_address),
  ])
  await assert.rejects(refund(id), {
    code: 'invalid_address',
    message: 'The sender is one of our own addresses. Release the deposit instead.',
  })
})

test('refuses an unknown ID', async () => {
  await assert.rejects(refund('bal_unknown'), { code: 'not_found' })
})
