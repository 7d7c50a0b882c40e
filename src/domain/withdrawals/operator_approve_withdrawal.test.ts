import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginRefund } from '#domain/topups/refund_deposit.ts'
import { assertLedgerSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { openWithdrawal, signedRow, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import {
  completeWithdrawal,
  failWithdrawal,
  holdMismatch,
  markBroadcasted,
  storeTransfer,
} from './advance_withdrawal.ts'
import { operatorApproveWithdrawal } from './operator_approve_withdrawal.ts'
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

/** A withdrawal whose final transfer is not the requested one. */
async function openMismatch(fields = {}): Promise<WithdrawalRow> {
  const withdrawal = await openWithdrawal(room, fields)
  const transfer = signedRow()
  await storeTransfer(dependencies, withdrawal, { sender: room.chain.hot_wallet, transfer })
  await markBroadcasted(dependencies, withdrawal)
  const position = { block_number: 7, txid: transfer.txid }
  await holdMismatch(dependencies, withdrawal, position)
  return reload(withdrawal)
}

test('an approved mismatch counts as sent and is never due for sending', async () => {
  const held = await openMismatch()
  await suspend(held)
  await db.run(`update kill_switches set is_on = true where rail = 'withdrawals'`)
  const { value, events, entries } = await approve(held.id)
  await db.run(`update kill_switches set is_on = false where rail = 'withdrawals'`)
  assert.deepEqual([value.status, value.txid], ['completed', held.txid])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['withdrawal.completed'],
  )
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['approve_withdrawal'],
  )
  const { step, block_number } = await reload(held)
  assert.deepEqual([step, block_number], ['completed', 7n])
  await assertLedgerSound(db)
})

test('a mismatched refund of a deposit is settled or held again by an operator', async () => {
  for (const [decide, state] of [
    [approve, 'refunded'],
    [refuse, 'held'],
  ] as const) {
    const account_id = await room.openAccount()
    const refund_of = await room.deposit(await room.openTopup(account_id), 25_000_000n, 'block')
    await room.operate((context) => beginRefund(context, refund_of))
    const amount = { amount_micros: 25_000_000n, fee_micros: 0n }
    const { id } = await openMismatch({ account_id, refund_of, ...amount })
    await decide(id)
    const rows = await db.rows('select state from chain_transfers where movement_id = $1', [
      refund_of,
    ])
    assert.deepEqual(rows, [{ state }])
  }
  await assertLedgerSound(db)
})

test('the kill switch of withdrawals stops approvals but not refusals', async () => {
  const { id } = await openWithdrawal(room, { step: 'review' })
  await db.run(`update kill_switches set is_on = true where rail = 'withdrawals'`)
  await assert.rejects(approve(id), { code: 'kill_switch_active' })
  assert.equal((await refuse(id)).value.status, 'failed')
  await db.run(`update kill_switches set is_on = false where rail = 'withdrawals'`)
})
