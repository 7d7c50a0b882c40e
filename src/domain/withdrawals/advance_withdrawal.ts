import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { NewEvent } from '#domain/context/context.ts'
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
  shortAddress,
  type WithdrawalRow,
  withdrawalReference,
  withdrawalView,
} from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import {
  insertTransfer,
  lockWithAccountStatus,
  lockWithdrawal,
  postpone,
  updateWithdrawal,
} from './withdrawal_store.ts'

/*
 * Each function is one transaction under the withdrawal's lock. It does nothing if the withdrawal
 * has left the step or attempt that the caller read.
 */

/**
 * Stores the signed bytes before they are sent, so a crash cannot lose them. If another transfer
 * has taken the nonce since, the bytes are dropped and the next attempt uses a new nonce.
 */
export async function storeTransfer(
  { db, clock }: WithdrawalDependencies,
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
    const isNonceFree = nonce === null || (await claimNonce(tx, { chain, address: sender }, nonce))
    if (!isNonceFree) {
      await updateWithdrawal(tx, locked, { attempt: attempt + 1, next_try_at: now }, now)
      return null
    }
    await insertTransfer(tx, locked, transfer)
    const change = { step: 'signed', status_reason: null, txid: transfer.txid } as const
    return updateWithdrawal(tx, locked, change, now)
  })
}

/** Stores a transfer with the same nonce and a higher fee; only one of the two can be mined. */
export async function storeReplacement(
  { db, clock }: WithdrawalDependencies,
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

export async function markBroadcasted(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
): Promise<void> {
  await dependencies.db.transaction(async (tx) => {
    const now = dependencies.clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.status !== 'pending' || locked.step !== 'signed') return
    const change = { status: 'broadcasted', status_reason: null, broadcasted_at: now } as const
    const sent = await updateWithdrawal(tx, locked, change, now)
    // The account holder sees a refund on the top-up, not as a withdrawal.
    if (sent.refund_of !== null) return
    await emitWithdrawalEvent(tx, dependencies, sent, {
      type: 'withdrawal.broadcasted',
      message: `${formatUsd(sent.amount_micros)} withdrawal sent to ${shortAddress(sent.address)}.`,
      object: withdrawalView(sent),
    })
  })
}

export async function recordBlock(
  { db, clock }: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  position: BlockPosition | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    const block_number = position === null ? null : BigInt(position.block_number)
    const txid = position?.txid ?? locked.txid
    const isSame = locked.block_number === block_number && locked.txid === txid
    if (locked.step !== 'signed' || isSame) return
    await updateWithdrawal(tx, locked, { block_number, txid }, clock.now())
  })
}

/** The block of a transfer, and which of the attempts it contains. */
type BlockPosition = { block_number: number; txid: string }

/** The transfer is final: the reserved amount goes to the chain and to our fees. */
export async function completeWithdrawal(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { block_number, txid }: BlockPosition,
): Promise<void> {
  await dependencies.db.transaction(async (tx) => {
    const now = dependencies.clock.now()
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
    if (done.refund_of !== null) return finishRefund(tx, dependencies, done.refund_of)
    await postFromPayout(dependencies, tx, done, [
      { movement: 'withdrawal_sent', to: chain_purse, amount_micros: netOf(done) },
      { movement: 'withdrawal_fee_taken', to: fees, amount_micros: done.fee_micros },
    ])
    const amount = formatUsd(done.amount_micros)
    await emitWithdrawalEvent(tx, dependencies, done, {
      type: 'withdrawal.completed',
      message: `${amount} withdrawal to ${shortAddress(done.address)} is complete.`,
      object: null,
    })
  })
}

/** None of its transfers can be mined any longer: the whole amount returns to the treasury. */
export async function failWithdrawal(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  reason: string,
): Promise<void> {
  await dependencies.db.transaction(async (tx) => {
    const now = dependencies.clock.now()
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== withdrawal.step || locked.attempt !== withdrawal.attempt) return
    assert(
      locked.step !== 'completed' && locked.step !== 'failed',
      'only an open withdrawal can fail',
    )
    const change = { status: 'failed', status_reason: reason, step: 'failed' } as const
    const failed = await updateWithdrawal(tx, locked, change, now)
    if (failed.refund_of !== null) return abandonRefund(tx, dependencies, failed.refund_of)
    await postFromPayout(dependencies, tx, failed, [
      { movement: 'withdrawal_returned', to: treasury, amount_micros: failed.amount_micros },
    ])
    await emitWithdrawalEvent(tx, dependencies, failed, {
      type: 'withdrawal.failed',
      severity: 'error',
      message: `Withdrawal failed. ${formatUsd(failed.amount_micros)} returned to your balance.`,
      object: null,
    })
  })
}

/** Starts the next attempt; the last transfer can never be mined. */
export async function beginAttempt(
  { db, clock }: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
): Promise<void> {
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

/** The last transfer may still be mined, so it is followed and no new one is signed. */
export async function resumeAttempt(
  { db, clock }: WithdrawalDependencies,
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

/** It can't be signed: an operator reviews it, or the task retries at next_try_at. */
export async function holdForReview(
  { db, clock }: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { step, next_try_at }: { step: 'review' | 'reserved'; next_try_at: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'reserved') return
    // The next version only if something changes that its owner or an operator sees.
    const isSame = step === locked.step && locked.status_reason === 'review'
    if (isSame) return postpone(tx, locked, next_try_at)
    const change = { step, next_try_at, status_reason: 'review' } as const
    await updateWithdrawal(tx, locked, change, clock.now())
  })
}

type PayoutMove = Pick<Move, 'movement' | 'to' | 'amount_micros'>

async function postFromPayout(
  { clock, newId }: WithdrawalDependencies,
  tx: Tx,
  { account_id, id, asset, chain, address }: WithdrawalRow,
  payout_moves: readonly PayoutMove[],
): Promise<void> {
  const moves = payout_moves
    .filter(({ amount_micros }) => amount_micros > 0n)
    .map((payout_move) => ({
      ...payout_move,
      account_id,
      from: payout,
      reference: withdrawalReference(id),
      description: `${asset} to ${address} on ${chain}`,
    }))
  const posted = await post(tx, moves, { now: clock.now(), newId })
  assert(
    posted.every((one) => one !== null),
    'the reserved amount is in the payout purse',
  )
}

type WithdrawalEvent = Pick<NewEvent, 'type' | 'message' | 'object' | 'severity'>

function emitWithdrawalEvent(
  tx: Tx,
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  fields: WithdrawalEvent,
): Promise<void> {
  const resource = withdrawalReference(withdrawal.id)
  const event = { ...fields, resource, amount_micros: withdrawal.amount_micros }
  return emitAsSystem(tx, dependencies, withdrawal.account_id, { events: [event] })
}
