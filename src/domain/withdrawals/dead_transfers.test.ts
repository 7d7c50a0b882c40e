import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooksSound } from '#test/support/money.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  openWithdrawal,
  outletOf,
  signedRow,
  withdrawalDependencies,
} from '#test/support/withdrawal_room.ts'
import { beginAttempt, storeTransfer } from './advance_withdrawal.ts'
import { confirmWithdrawalsTask } from './confirm_withdrawals_task.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import { lockWithdrawal } from './withdrawal_store.ts'

const room = await openMoneyRoom()
const { db } = room
const lookup = async () => ({ outcome: 'dead' }) as const
const dependencies = withdrawalDependencies(room, { chain_senders: [outletOf(room, { lookup })] })
const sender = room.chain.hot_wallet

const reload = (withdrawal: WithdrawalRow) => db.transaction((tx) => lockWithdrawal(tx, withdrawal))

/** A withdrawal whose transfers all died, with the last one signed. */
async function openAtAttempt(attempt: number): Promise<WithdrawalRow> {
  let withdrawal = await openWithdrawal(room)
  for (let at = 1; ; at += 1) {
    const transfer = signedRow({ attempt: at })
    const signed = await storeTransfer(dependencies, withdrawal, { sender, transfer })
    assert(signed !== null)
    if (at === attempt) return signed
    await beginAttempt(dependencies, signed)
    withdrawal = await reload(signed)
  }
}

test('a dead transfer begins the next attempt, and the fifth returns the money', async () => {
  const [fourth, fifth] = [await openAtAttempt(4), await openAtAttempt(5)]
  await confirmWithdrawalsTask(dependencies).run()
  const next = await reload(fourth)
  assert.deepEqual([next.step, next.attempt, next.status], ['reserved', 5, 'pending'])
  const failed = await reload(fifth)
  assert.deepEqual(
    [failed.step, failed.status, failed.status_reason],
    ['failed', 'failed', 'not_sent'],
  )
  await assertBooksSound(db)
})
