import { isKilled } from '#domain/risk/kill_switch.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { claimNonce } from './sender_order_store.ts'
import type { MinedTransfer, SentTransferRow } from './sent_transfers.ts'
import { settleAsReturned, settleAsSent, subjectOf, systemContext } from './settle_withdrawal.ts'
import {
  isHeldBySuspension,
  shortAddress,
  type WithdrawalRow,
  withdrawalView,
} from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import {
  findTransfers,
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

type NewTransfer = {
  sender: string
  transfer: SentTransferRow
  /** It is in a block, so the nonce is its own. */
  is_mined?: boolean
}

/**
 * Stores the signed bytes before they are sent, so a crash cannot lose them. If another transfer
 * has taken the nonce since, the bytes are dropped and the next attempt uses a new nonce.
 */
export async function storeTransfer(
  { db, clock }: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { sender, transfer, is_mined = false }: NewTransfer,
): Promise<WithdrawalRow | null> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const locked = await lockWithAccountStatus(tx, withdrawal)
    if (locked.step !== 'reserved' || locked.attempt !== transfer.attempt) return null
    if (isHeldBySuspension(locked) || (await isKilled(tx, 'withdrawals'))) return null
    const { chain, attempt } = locked
    const { nonce } = transfer
    const isNonceFree =
      nonce === null ||
      is_mined ||
      (await hasNonce(tx, locked, nonce)) ||
      (await claimNonce(tx, { chain, address: sender }, nonce))
    if (!isNonceFree) {
      await updateWithdrawal(tx, locked, { attempt: attempt + 1, next_try_at: now }, now)
      return null
    }
    await insertTransfer(tx, locked, transfer)
    const change = { step: 'signed', status_reason: null, txid: transfer.txid } as const
    return updateWithdrawal(tx, locked, change, now)
  })
}

/** A replacement that was signed before a crash has the nonce of an earlier attempt. */
async function hasNonce(tx: Tx, withdrawal: WithdrawalRow, nonce: bigint): Promise<boolean> {
  return (await findTransfers(tx, withdrawal)).some((earlier) => earlier.nonce === nonce)
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
    await systemContext(tx, dependencies).emit(sent.account_id, {
      type: 'withdrawal.broadcasted',
      message: `${formatUsd(sent.amount_micros)} withdrawal sent to ${shortAddress(sent.address)}.`,
      object: withdrawalView(sent),
      ...subjectOf(sent),
    })
  })
}

/** The block of a transfer, and which of the attempts it contains. */
type BlockPosition = Pick<MinedTransfer, 'block_number' | 'txid'>

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

/** The transfer is final. */
export async function completeWithdrawal(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { block_number, txid }: BlockPosition,
): Promise<void> {
  await dependencies.db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'signed') return
    const position = { block_number: BigInt(block_number), txid }
    await settleAsSent(tx, systemContext(tx, dependencies), locked, position)
  })
}

/**
 * The transfer is final and succeeded, but it isn't the one that was requested. Coins may have been
 * moved, so nothing returns: an operator looks at the chain and settles the withdrawal.
 */
export async function holdMismatch(
  { db, clock }: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { block_number, txid }: BlockPosition,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'signed') return false
    const position = { block_number: BigInt(block_number), txid }
    const change = { ...position, step: 'review', status_reason: 'transfer_mismatch' } as const
    await updateWithdrawal(tx, locked, change, clock.now())
    return true
  })
}

/** None of its transfers can be mined any longer. */
export async function failWithdrawal(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  reason: string,
): Promise<void> {
  await dependencies.db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== withdrawal.step || locked.attempt !== withdrawal.attempt) return
    assert(
      locked.step !== 'completed' && locked.step !== 'failed',
      'only an open withdrawal can fail',
    )
    await settleAsReturned(tx, systemContext(tx, dependencies), locked, reason)
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
  { step, next_try_at, status_reason = 'review' }: Hold,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockWithdrawal(tx, withdrawal)
    if (locked.step !== 'reserved') return
    // The next version only if something changes that its owner or an operator sees.
    const isSame = step === locked.step && locked.status_reason === status_reason
    if (isSame) return postpone(tx, locked, next_try_at)
    const change = { step, next_try_at, status_reason }
    await updateWithdrawal(tx, locked, change, clock.now())
  })
}

type Hold = {
  step: 'review' | 'reserved'
  next_try_at: Date
  status_reason?: 'review' | 'nonce_taken'
}
