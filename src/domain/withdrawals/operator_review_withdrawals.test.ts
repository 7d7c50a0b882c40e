import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLedgerSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal, signedRow, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import { completeWithdrawal, failWithdrawal, storeTransfer } from './advance_withdrawal.ts'
import { operatorApproveWithdrawal } from './operator_approve_withdrawal.ts'
import { operatorListWithdrawals } from './operator_list_withdrawals.ts'
import { operatorRefuseWithdrawal } from './operator_refuse_withdrawal.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import { lockWithdrawal } from './withdrawal_store.ts'

const room = await openMoneyRoom()
const { db } = room
const dependencies = withdrawalDependencies(room)
const approve = (id: string) =>
  room.operate((context) => operatorApproveWithdrawal(context, { id }))
const refuse = (id: string) => room.operate((context) => operatorRefuseWithdrawal(context, { id }))
const reload = (withdrawal: WithdrawalRow) => db.transaction((tx) => lockWithdrawal(tx, withdrawal))
const suspend = ({ account_id }: WithdrawalRow) =>
  db.run(`update accounts set status = 'suspended' where id = $1`, [account_id])

test('an approved withdrawal is due for sending immediately, with an audit entry', async () => {
  const withdrawal = await openWithdrawal(room, { step: 'review' })
  room.clock.pass(60_000)
  const { value, entries } = await approve(withdrawal.id)
  assert.deepEqual([value.status, value.status_reason], ['pending', null])
  assert.deepEqual(entries[0]?.resource, { type: 'withdrawal', id: withdrawal.id })
  const { step, next_try_at } = await reload(withdrawal)
  assert.deepEqual([step, next_try_at], ['reserved', room.clock.now()])
})

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

test('of concurrent decisions on one withdrawal exactly one counts', async () => {
  const { id } = await openWithdrawal(room, { step: 'review' })
  const decisions = await Promise.allSettled([approve(id), refuse(id), approve(id), refuse(id)])
  assert.equal(decisions.filter(({ status }) => status === 'fulfilled').length, 1)
  await assertLedgerSound(db)
})

test('refuses every withdrawal that does not await an operator', async () => {
  const reserved = await openWithdrawal(room)
  const [signed, completed, failed] = await Promise.all([1, 2, 3].map(() => openWithdrawal(room)))
  assert(signed !== undefined && completed !== undefined && failed !== undefined)
  for (const one of [signed, completed, failed]) {
    const stored = { sender: room.chain.hot_wallet, transfer: signedRow() }
    await storeTransfer(dependencies, one, stored)
  }
  await completeWithdrawal(dependencies, completed, { block_number: 1, txid: 'aa' })
  await failWithdrawal(dependencies, await reload(failed), 'reverted')
  for (const { id } of [reserved, signed, completed, failed]) {
    for (const decide of [approve, refuse]) {
      await assert.rejects(decide(id), { code: 'invalid_request', status: 409 })
    }
  }
  await assert.rejects(approve('wd_unknown'), { code: 'not_found' })
})

test('a withdrawal of a suspended account can be refused and not approved', async () => {
  for (const step of ['review', 'reserved'] as const) {
    const withdrawal = await openWithdrawal(room, { step })
    await suspend(withdrawal)
    await assert.rejects(approve(withdrawal.id), { code: 'account_suspended' })
    assert.equal((await refuse(withdrawal.id)).value.status, 'failed')
  }
})

test('the kill switch of withdrawals stops approvals but not refusals', async () => {
  const { id } = await openWithdrawal(room, { step: 'review' })
  await db.run(`update kill_switches set is_on = true where rail = 'withdrawals'`)
  await assert.rejects(approve(id), { code: 'kill_switch_active' })
  assert.equal((await refuse(id)).value.status, 'failed')
  await db.run(`update kill_switches set is_on = false where rail = 'withdrawals'`)
})

test('lists withdrawals by status, by account and in review', async () => {
  const one = await openWithdrawal(room, { step: 'review' })
  await openWithdrawal(room, { account_id: one.account_id })
  const list = async (filter: object) => {
    const input = { account_id: one.account_id, ...filter }
    return (await room.operate((context) => operatorListWithdrawals(context, input))).value.data
  }
  assert.equal((await list({})).length, 2)
  assert.equal((await list({ status: 'pending' })).length, 2)
  assert.equal((await list({ status: 'failed' })).length, 0)
  const in_review = await list({ status: 'review' })
  assert.deepEqual(
    in_review.map(({ id, in_review: is_in_review }) => [id, is_in_review]),
    [[one.id, true]],
  )
})
