import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NonceUser } from '#rails/chain/sender.ts'
import type { SignOutcome, TransferIntent } from '#rails/signer/intent.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  openWithdrawal,
  outletOf,
  signedOutcome,
  signedRow,
  withdrawalDependencies,
} from '#test/support/withdrawal_room.ts'
import { WALLET } from '#test/support/withdrawals.ts'
import { beginAttempt, storeTransfer } from './advance_withdrawal.ts'
import { signReplacement, signTransfer } from './sign_withdrawal.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import { insertTransfer, lockWithdrawal } from './withdrawal_store.ts'

const room = await openMoneyRoom()
const { db } = room
const sender = room.chain.hot_wallet
const reload = (withdrawal: WithdrawalRow) => db.transaction((tx) => lockWithdrawal(tx, withdrawal))

/** A signer that gives this outcome, and the intents that it received. */
function signerWith(outcome: SignOutcome) {
  const intents: TransferIntent[] = []
  const sign = async (intent: TransferIntent) => {
    intents.push(intent)
    return outcome
  }
  return { intents, dependencies: withdrawalDependencies(room, { signer: { sign } }) }
}

test('the intent names the net amount, the address and the approval of the withdrawal', async () => {
  const withdrawal = await openWithdrawal(room, { approval: 'approval' })
  const { intents, dependencies } = signerWith(signedOutcome())
  const row = await signTransfer(dependencies, outletOf(room), withdrawal)
  assert.equal(row?.attempt, 1)
  const { id, attempt, purpose, to, amount, deposit_index, approval } = intents[0] ?? {}
  assert.deepEqual(
    { id, attempt, purpose, to, amount, deposit_index, approval },
    {
      id: withdrawal.id,
      attempt: 1,
      purpose: 'withdrawal',
      to: WALLET,
      amount: '19000000',
      deposit_index: null,
      approval: 'approval',
    },
  )
})

test('a refused withdrawal stays reserved, shows review and is retried after a minute', async () => {
  const withdrawal = await openWithdrawal(room)
  const { dependencies } = signerWith({ ok: false, refusal: 'hourly_limit' as never })
  assert.equal(await signTransfer(dependencies, outletOf(room), withdrawal), null)
  const { step, status_reason, next_try_at } = await reload(withdrawal)
  assert.deepEqual(
    [step, status_reason, next_try_at.getTime() - room.clock.now().getTime()],
    ['reserved', 'review', 60_000],
  )
})

test('a refusal that lasts waits for an operator, and that of a refund is tried again', async () => {
  const { dependencies } = signerWith({ ok: false, refusal: 'amount_over_limit' })
  const withdrawal = await openWithdrawal(room)
  assert.equal(await signTransfer(dependencies, outletOf(room), withdrawal), null)
  const { step, status_reason } = await reload(withdrawal)
  assert.deepEqual([step, status_reason], ['review', 'review'])
  const refund = await openWithdrawal(room, { refund_of: 'bal_1' })
  assert.equal(await signTransfer(dependencies, outletOf(room), refund), null)
  assert.equal((await reload(refund)).step, 'reserved')
})

test('a withdrawal that is refused every minute has one new version', async () => {
  const { dependencies } = signerWith({ ok: false, refusal: 'velocity_exceeded' })
  const withdrawal = await openWithdrawal(room)
  for (let minute = 0; minute < 3; minute += 1) {
    await signTransfer(dependencies, outletOf(room), await reload(withdrawal))
    room.clock.pass(60_000)
  }
  const { version, next_try_at } = await reload(withdrawal)
  assert.deepEqual([version, next_try_at], [withdrawal.version + 1n, room.clock.now()])
})

test('if the signer says the last attempt may still be mined, it is followed again', async () => {
  const withdrawal = await openWithdrawal(room)
  const { dependencies } = signerWith({ ok: false, refusal: 'attempt_too_early' })
  const transfer = signedRow()
  await storeTransfer(dependencies, withdrawal, { sender, transfer })
  await beginAttempt(dependencies, await reload(withdrawal))
  assert.equal(await signTransfer(dependencies, outletOf(room), await reload(withdrawal)), null)
  const { step, attempt, txid } = await reload(withdrawal)
  assert.deepEqual([step, attempt, txid], ['signed', 1, transfer.txid])
})

test('without a stored transfer, an attempt that is too early for the signer awaits an operator', async () => {
  for (const fields of [{}, { refund_of: 'bal_restored' }]) {
    const withdrawal = await openWithdrawal(room, fields)
    const { dependencies } = signerWith({ ok: false, refusal: 'attempt_too_early' })
    assert.equal(await signTransfer(dependencies, outletOf(room), withdrawal), null)
    const { step, status_reason } = await reload(withdrawal)
    assert.deepEqual([step, status_reason], ['review', 'nonce_taken'])
  }
})

test('a replacement is the next attempt; null if the fee cannot rise or the signer refuses', async () => {
  const withdrawal = await openWithdrawal(room)
  const stuck = signedRow({ attempt: 3, nonce: 7n })
  const { intents, dependencies } = signerWith(signedOutcome({ nonce: 7 }))
  const replaceable = outletOf(room, { replacementParameters: async () => ({}) as never })
  const row = await signReplacement(dependencies, replaceable, { withdrawal, stuck })
  assert.deepEqual([row?.attempt, row?.nonce, intents[0]?.attempt], [4, 7n, 4])
  assert.equal(await signReplacement(dependencies, outletOf(room), { withdrawal, stuck }), null)
  const refusing = signerWith({ ok: false, refusal: 'attempt_too_early' }).dependencies
  assert.equal(await signReplacement(refusing, replaceable, { withdrawal, stuck }), null)
})

/** A withdrawal whose only transfer, with nonce 7, lost it to this transaction. */
async function signAfterLoss(user: NonceUser | null, outcome: SignOutcome, fields = {}) {
  const withdrawal = await openWithdrawal(room, fields)
  const { intents, dependencies } = signerWith(outcome)
  const transfer = signedRow({ nonce: 7n })
  await insertTransfer(db, withdrawal, transfer)
  await db.run(`update withdrawals set step = 'signed', txid = $2 where id = $1`, [
    withdrawal.id,
    transfer.txid,
  ])
  await beginAttempt(dependencies, await reload(withdrawal))
  const outlet = outletOf(room, { findNonceUser: async () => user })
  const row = await signTransfer(dependencies, outlet, await reload(withdrawal))
  const { step, status_reason, attempt } = await reload(withdrawal)
  return { row, intents, transfer, state: [step, status_reason, attempt] }
}

test('the signer is shown the transaction that took the nonce of the last attempt', async () => {
  const user = { txid: 'ef'.repeat(32), raw: '02c0' }
  const { row, intents } = await signAfterLoss(user, signedOutcome({ nonce: 8 }))
  assert.deepEqual([row?.attempt, row?.nonce], [2, 8n])
  assert.deepEqual(intents[0]?.network, { nonce_taken_by: '02c0' })
})

test('without proof of the loss nothing is signed; an operator decides, of a refund too', async () => {
  const txid = 'ef'.repeat(32)
  const unproven = [null, { txid, raw: null }, { txid, raw: 'ab'.repeat(4_097) }]
  for (const user of unproven) {
    for (const fields of [{}, { refund_of: `bal_lost_${unproven.indexOf(user)}` }]) {
      const { row, intents, state } = await signAfterLoss(user, signedOutcome(), fields)
      assert.deepEqual([row, intents.length, state], [null, 0, ['review', 'nonce_taken', 2]])
    }
  }
  const refused = { ok: false, refusal: 'attempt_too_early' } as const
  const { state } = await signAfterLoss({ txid, raw: '02c0' }, refused)
  assert.deepEqual(state, ['review', 'nonce_taken', 2])
})

test('if an attempt of the withdrawal itself has the nonce, it is followed again', async () => {
  const withdrawal = await openWithdrawal(room)
  const { intents, dependencies } = signerWith(signedOutcome())
  const transfer = signedRow({ nonce: 7n })
  await storeTransfer(dependencies, withdrawal, { sender: '', transfer })
  await beginAttempt(dependencies, await reload(withdrawal))
  const user = { txid: transfer.txid, raw: '02c0' }
  const outlet = outletOf(room, { findNonceUser: async () => user })
  assert.equal(await signTransfer(dependencies, outlet, await reload(withdrawal)), null)
  const { step, attempt, txid } = await reload(withdrawal)
  assert.deepEqual([step, attempt, txid, intents.length], ['signed', 1, transfer.txid, 0])
})
