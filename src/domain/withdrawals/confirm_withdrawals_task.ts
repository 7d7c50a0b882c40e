import { assert } from '#kernel/assert.ts'
import { withLease } from '#platform/postgres/lease.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Outlet } from '#rails/chain/outlet.ts'
import {
  beginAttempt,
  completeWithdrawal,
  failWithdrawal,
  recordBlock,
  markBroadcasted,
  storeReplacement,
} from './advance_withdrawal.ts'
import { broadcastTransfer, dueFilter, guardWithLease, leaseNameOf } from './send_withdrawals_task.ts'
import { findFate, isStuck, type SentTransferRow } from './sent_transfers.ts'
import { type WithdrawalDependencies, signReplacement } from './sign_withdrawal.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import {
  findDueWithdrawals,
  findTransfers,
  hasDueWithdrawal,
  postpone,
} from './withdrawal_store.ts'

/** What is not in a block yet is looked for, and sent, again after half a block's time. */
const SEND_AGAIN_MS = 1_500

/** Transfers that died one after the other: something is wrong, and the money goes back. */
const ATTEMPTS_MAX = 5

/** Follows what was signed to its end: completed, failed, or another attempt. */
export function confirmWithdrawalsTask(parts: WithdrawalDependencies): Task {
  return {
    name: 'confirm_withdrawals',
    every_ms: 1_000,
    idle_ms: 5_000,
    pass: async () => {
      for (const outlet of parts.outlets) {
        if (!(await hasDueWithdrawal(parts.db, dueFilter(parts, outlet, 'signed')))) continue
        await withLease(parts.db, leaseNameOf(outlet), (lease) =>
          followAll(...guardWithLease(lease, parts, outlet)),
        )
      }
    },
  }
}

async function followAll(parts: WithdrawalDependencies, outlet: Outlet): Promise<void> {
  const { db, clock } = parts
  for (const withdrawal of await findDueWithdrawals(db, dueFilter(parts, outlet, 'signed'))) {
    const pause_ms = (await follow(parts, outlet, withdrawal)) ? SEND_AGAIN_MS : 0
    await postpone(db, withdrawal, new Date(clock.now().getTime() + pause_ms))
  }
}

/** True where it was sent again and needs some time. */
async function follow(
  parts: WithdrawalDependencies,
  outlet: Outlet,
  withdrawal: WithdrawalRow,
): Promise<boolean> {
  const transfers = await findTransfers(parts.db, withdrawal)
  const found = await findFate(outlet, outlet.chain.hot_wallet, transfers)
  const [newest] = transfers
  assert(newest !== undefined, 'what is signed has its bytes')
  switch (found.fate) {
    case 'unknown':
      await recordBlock(parts, withdrawal, null)
      await sendAgain(parts, outlet, { withdrawal, newest })
      return true
    case 'mined':
      await markBroadcasted(parts, withdrawal)
      await recordBlock(parts, withdrawal, found)
      return false
    case 'dead':
      await replaceDead(parts, withdrawal, newest)
      return false
    case 'final':
      await markBroadcasted(parts, withdrawal)
      parts.fail('before_withdrawal_settled')
      if (found.ok) await completeWithdrawal(parts, withdrawal, found)
      else await failWithdrawal(parts, withdrawal, 'reverted')
      parts.fail('after_withdrawal_settled')
      return false
  }
}

/** The same bytes, or the same place in the order at a better price where they wait too long. */
async function sendAgain(
  parts: WithdrawalDependencies,
  outlet: Outlet,
  { withdrawal, newest }: { withdrawal: WithdrawalRow; newest: SentTransferRow },
): Promise<void> {
  const better = isStuck(outlet, newest, parts.clock.now())
    ? await signReplacement(parts, outlet, { withdrawal, stuck: newest })
    : null
  if (better === null) {
    return broadcastTransfer(parts, outlet, { withdrawal, transfer: newest })
  }
  parts.fail('after_replacement_signed')
  const stored = await storeReplacement(parts, withdrawal, better)
  if (stored === null) return
  await broadcastTransfer(parts, outlet, { withdrawal: stored, transfer: better })
}

/**
 * Where time ends transfers, a few that died are enough: the money goes back. Where order does, the
 * signer knows whether the place was really taken by another payment of ours, and it is asked.
 */
async function replaceDead(
  parts: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
  { nonce }: SentTransferRow,
): Promise<void> {
  const isOver = nonce === null && withdrawal.attempt >= ATTEMPTS_MAX
  if (isOver) await failWithdrawal(parts, withdrawal, 'not_sent')
  else await beginAttempt(parts, withdrawal)
}
