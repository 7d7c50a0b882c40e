import { assert } from '#kernel/assert.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { ChainSender } from '#rails/chain/sender.ts'
import {
  beginAttempt,
  completeWithdrawal,
  failWithdrawal,
  holdMismatch,
  markBroadcasted,
  recordBlock,
  storeReplacement,
} from './advance_withdrawal.ts'
import { alertOperator } from './awaiting_review.ts'
import { broadcastTransfer } from './broadcast_transfer.ts'
import { dueFilter, putLast, withHotWallet } from './hot_wallet_runs.ts'
import { findOutcome, isStuck, type MinedTransfer, type SentTransferRow } from './sent_transfers.ts'
import { signReplacement } from './sign_withdrawal.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import {
  findDueWithdrawals,
  findTransfers,
  hasDueWithdrawal,
  postpone,
} from './withdrawal_store.ts'

/** A transfer that is in no block is looked up and sent again after half a block interval. */
const RESEND_MS = 1_500

/** After this many dead transfers the withdrawal fails and the money returns. */
const ATTEMPTS_MAX = 5

/** Follows each signed withdrawal until it is completed, has failed or needs a new attempt. */
export function confirmWithdrawalsTask(dependencies: WithdrawalDependencies): Task {
  return {
    name: 'confirm_withdrawals',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: () =>
      forEachAlone(dependencies.chain_senders, async (chain_sender) => {
        const due = dueFilter(dependencies, chain_sender, 'signed')
        if (!(await hasDueWithdrawal(dependencies.db, due))) return
        await withHotWallet(dependencies, chain_sender, followAll)
      }),
  }
}

async function followAll(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): Promise<void> {
  const { db, clock } = dependencies
  for (const withdrawal of await findDueWithdrawals(
    db,
    dueFilter(dependencies, chain_sender, 'signed'),
  )) {
    const isResent = await followTransfer(dependencies, chain_sender, withdrawal).catch(
      putLast(dependencies, withdrawal),
    )
    const pause_ms = isResent ? RESEND_MS : 0
    await postpone(db, withdrawal, new Date(clock.now().getTime() + pause_ms))
  }
}

/** Returns true if the transfer was sent again. */
async function followTransfer(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  withdrawal: WithdrawalRow,
): Promise<boolean> {
  const transfers = await findTransfers(dependencies.db, withdrawal)
  const found = await findOutcome(chain_sender, chain_sender.chain.hot_wallet, transfers)
  const [newest] = transfers
  assert(newest !== undefined, 'a signed withdrawal has its signed bytes')
  switch (found.outcome) {
    case 'unknown':
      await recordBlock(dependencies, withdrawal, null)
      await resend(dependencies, chain_sender, { withdrawal, newest })
      return true
    case 'mined':
      await markBroadcasted(dependencies, withdrawal)
      await recordBlock(dependencies, withdrawal, found)
      return false
    case 'dead':
      await replaceDead(dependencies, withdrawal, newest)
      return false
    case 'final':
      await markBroadcasted(dependencies, withdrawal)
      dependencies.fail('before_withdrawal_settled')
      await settleFinal(dependencies, withdrawal, found)
      dependencies.fail('after_withdrawal_settled')
      return false
  }
}

/** Only a revert proves that nothing was moved. */
async function settleFinal(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  found: MinedTransfer,
): Promise<void> {
  switch (found.result) {
    case 'success':
      return completeWithdrawal(dependencies, withdrawal, found)
    case 'reverted':
      return failWithdrawal(dependencies, withdrawal, 'reverted')
    case 'mismatch':
      if (await holdMismatch(dependencies, withdrawal, found)) {
        alertOperator(dependencies, withdrawal, 'a final transfer is not the requested one')
      }
  }
}

/** Sends the same bytes, or a replacement with a higher fee if they have waited too long. */
async function resend(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  { withdrawal, newest }: { withdrawal: WithdrawalRow; newest: SentTransferRow },
): Promise<void> {
  const replacement = isStuck(chain_sender, newest, dependencies.clock.now())
    ? await signReplacement(dependencies, chain_sender, { withdrawal, stuck: newest })
    : null
  if (replacement === null) {
    return broadcastTransfer(dependencies, chain_sender, { withdrawal, transfer: newest })
  }
  dependencies.fail('after_replacement_signed')
  const stored = await storeReplacement(dependencies, withdrawal, replacement)
  if (stored === null) return
  await broadcastTransfer(dependencies, chain_sender, { withdrawal: stored, transfer: replacement })
}

/**
 * TRON transfers expire, so the withdrawal fails after ATTEMPTS_MAX of them. EVM transfers die only
 * when another transfer takes their nonce; the signer checks that before it signs a new attempt.
 */
async function replaceDead(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { nonce }: SentTransferRow,
): Promise<void> {
  const isLastAttempt = nonce === null && withdrawal.attempt >= ATTEMPTS_MAX
  if (isLastAttempt) await failWithdrawal(dependencies, withdrawal, 'not_sent')
  else await beginAttempt(dependencies, withdrawal)
}
