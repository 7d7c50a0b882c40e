import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { type Move, post } from '#domain/ledger/post.ts'
import { chain as chain_purse, fees, payout, treasury } from '#domain/ledger/purse.ts'
import { abandonRefund, finishRefund } from '#domain/topups/refund_deposit.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { claimNonce } from './sender_order_store.ts'
import type { SentTransferRow } from './sent_transfers.ts'
import {
  isHeldBySuspension,
  netOf,
  type WithdrawalRow,
  withdrawalReference,
  withdrawalView,
} from './withdrawal.ts'
import {
  insertTransfer,
  lockWithdrawal,
  lockWithAccountStatus,
  updateWithdrawal,
} from './withdrawal_store.ts'

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

/** Each step is one transaction under the withdrawal's lock, and does nothing if it was done. */

/**
 * The bytes are ours from here on, whatever happens to the process that had them signed. A transfer
 * whose place in the order went to another one is never sent; the next attempt has its own.
 */
export async function storeTransfer(
  { db, clock }: Parts,
  withdrawal: WithdrawalRow,
  { sender, transfer }: { sender: string; transfer: SentTransferRow },
): Promise<WithdrawalRow | null> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const locked = await lockWithAccountStatus(tx, withdrawal)
    if (locked.step !== 'reserved' || locked.attempt !== transfer.attempt) return null
    if (isHeldBySuspension(locked)) return null
    const { chain, attempt } = locked
    const { nonce } = transfer
    const isFree = nonce === null || (await claimNonce(tx, { chain, address: sender }, nonce))
    if (!isFree) {
      await updateWithdrawal(tx, locked, { attempt: attempt + 1, next_try_at: now }, now)
      return null
    }
    await insertTransfer(tx, locked, transfer)
    return updateWithdrawal(tx, locked, { step: 'signed', txid: transfer.txid }, now)
  })
}

/** The same place in the order at a higher price: of the two, one can be mined. */
export async function storeReplacement(
  { db, clock }: Parts,
  withdrawal: WithdrawalRow,
  transfer: SentTransferRow,
): Promise<WithdrawalRow | null> {
  return db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    const { attempt, txid } = transfer
    if (locked.step !== 'signed' || locked.attempt + 1 !== attempt) return null
    await insertTransfer(tx, locked, transfer)
    return updateWithdrawal(tx, locked, { attempt, txid }, clock.now())
  })
}

export async function markBroadcasted(parts: Parts, withdrawal: WithdrawalRow): Promise<void> {
  await parts.db.transaction(async (tx) => {
    const now = parts.clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.status !== 'pending' || locked.step !== 'signed') return
    const change = { status: 'broadcasted', status_reason: null, broadcasted_at: now } as const
    const sent = await updateWithdrawal(tx, locked, change, now)
    // What goes back to a sender was never the account's to hear of as a withdrawal.
    if (sent.refund_of !== null) return
    await tell(tx, parts, sent, {
      type: 'withdrawal.broadcasted',
      message: `${formatUsd(netOf(sent))} withdrawal sent to ${sent.address}.`,
      object: withdrawalView(sent),
    })
  })
}

export async function recordBlock(
  { db, clock }: Parts,
  withdrawal: WithdrawalRow,
  seen: Seen | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    const block_number = seen === null ? null : BigInt(seen.block_number)
    const txid = seen?.txid ?? locked.txid
    const isSame = locked.block_number === block_number && locked.txid === txid
    if (locked.step !== 'signed' || isSame) return
    await updateWithdrawal(tx, locked, { block_number, txid }, clock.now())
  })
}

/** Where it was found, and as which of its attempts. */
type Seen = { block_number: number; txid: string }

/** It is final: what was reserved has left, to its target and as our fee. */
export async function completeWithdrawal(
  parts: Parts,
  withdrawal: WithdrawalRow,
  { block_number, txid }: Seen,
): Promise<void> {
  await parts.db.transaction(async (tx) => {
    const now = parts.clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'signed') return
    const change = {
      status: 'completed',
      status_reason: null,
      step: 'completed',
      txid,
      block_number: BigInt(block_number),
      completed_at: now,
    } as const
    const done = await updateWithdrawal(tx, locked, change, now)
    if (done.refund_of !== null) return finishRefund(tx, parts, done.refund_of)
    await settle(parts, tx, done, [
      { movement: 'withdrawal_sent', to: chain_purse, amount_micros: netOf(done) },
      { movement: 'withdrawal_fee_taken', to: fees, amount_micros: done.fee_micros },
    ])
    await tell(tx, parts, done, {
      type: 'withdrawal.completed',
      message: `${formatUsd(netOf(done))} withdrawal to ${done.address} is complete.`,
      object: null,
    })
  })
}

/** Nothing has left and nothing of it can leave any more: all of it comes back. */
export async function failWithdrawal(
  parts: Parts,
  withdrawal: WithdrawalRow,
  reason: string,
): Promise<void> {
  await parts.db.transaction(async (tx) => {
    const now = parts.clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== withdrawal.step || locked.attempt !== withdrawal.attempt) return
    assert(locked.step !== 'completed' && locked.step !== 'failed', 'only what is open can fail')
    const change = { status: 'failed', status_reason: reason, step: 'failed' } as const
    const failed = await updateWithdrawal(tx, locked, change, now)
    if (failed.refund_of !== null) return abandonRefund(tx, parts, failed.refund_of)
    await settle(parts, tx, failed, [
      { movement: 'withdrawal_returned', to: treasury, amount_micros: failed.amount_micros },
    ])
    await tell(tx, parts, failed, {
      type: 'withdrawal.failed',
      severity: 'error',
      message: `Withdrawal failed. ${formatUsd(failed.amount_micros)} returned to your balance.`,
      object: null,
    })
  })
}

/** A fresh attempt, once the last one is known to be dead. */
export async function beginAttempt({ db, clock }: Parts, withdrawal: WithdrawalRow): Promise<void> {
  await db.transaction(async (tx) => {
    const now = clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'signed' || locked.attempt !== withdrawal.attempt) return
    const change = {
      step: 'reserved',
      attempt: locked.attempt + 1,
      block_number: null,
      next_try_at: now,
    } as const
    await updateWithdrawal(tx, locked, change, now)
  })
}

/** The last attempt may still execute after all: it is followed on, and no other is made. */
export async function resumeAttempt(
  { db, clock }: Parts,
  withdrawal: WithdrawalRow,
  last: SentTransferRow,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'reserved' || locked.attempt !== withdrawal.attempt) return
    const { attempt, txid } = last
    await updateWithdrawal(tx, locked, { step: 'signed', attempt, txid }, clock.now())
  })
}

/** It waits for a person: the signer or the screening will not have it go by itself. */
export async function holdForReview(
  { db, clock }: Parts,
  withdrawal: WithdrawalRow,
  change: { step?: 'review'; next_try_at?: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'reserved') return
    await updateWithdrawal(tx, locked, { ...change, status_reason: 'review' }, clock.now())
  })
}

type Part = Pick<Move, 'movement' | 'to' | 'amount_micros'>

async function settle(
  { clock, newId }: Parts,
  tx: Tx,
  { account_id, id, asset, chain, address }: WithdrawalRow,
  parts: readonly Part[],
): Promise<void> {
  const moves = parts
    .filter(({ amount_micros }) => amount_micros > 0n)
    .map((part) => ({
      ...part,
      account_id,
      from: payout,
      reference: withdrawalReference(id),
      description: `${asset} to ${address} on ${chain}`,
    }))
  const posted = await post(tx, moves, { now: clock.now(), newId })
  assert(
    posted.every((one) => one !== null),
    'what was reserved is there',
  )
}

type Told = Pick<NewEvent, 'type' | 'message' | 'object' | 'severity'>

function tell(tx: Tx, parts: Parts, withdrawal: WithdrawalRow, told: Told): Promise<void> {
  const resource = withdrawalReference(withdrawal.id)
  const event = { ...told, resource, amount_micros: withdrawal.amount_micros }
  return emitAsSystem(tx, parts, withdrawal.account_id, { events: [event] })
}
