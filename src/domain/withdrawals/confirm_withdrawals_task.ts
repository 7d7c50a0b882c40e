import { assert } from '#kernel/assert.ts'
import { withLease } from '#platform/lease.ts'
import type { Task } from '#platform/tasks.ts'
import type { Outlet } from '#rails/chain/outlet.ts'
import {
  beginAttempt,
  completeWithdrawal,
  failWithdrawal,
  noteBlock,
  noteBroadcast,
} from './advance_withdrawal.ts'
import { broadcastTransfer, leaseOf, type SendingParts } from './send_withdrawals_task.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import { findDueWithdrawals, findTransfer, postpone } from './withdrawal_store.ts'

/** What is not in a block yet is looked for, and sent, again after half a block's time. */
const SEND_AGAIN_MS = 1_500

/** Transfers that died one after the other: something is wrong, and the money goes back. */
const ATTEMPTS_MAX = 5

/** Follows what was signed to its end: completed, failed, or another attempt. */
export function confirmWithdrawalsTask(parts: SendingParts): Task {
  return {
    name: 'confirm_withdrawals',
    every_ms: 1_000,
    pass: async () => {
      for (const outlet of parts.outlets) {
        await withLease(parts.db, leaseOf(outlet), () => followAll(parts, outlet))
      }
    },
  }
}

async function followAll(parts: SendingParts, outlet: Outlet): Promise<void> {
  const { db, clock } = parts
  const due = { chain: outlet.chain.name, step: 'signed', now: clock.now() } as const
  for (const withdrawal of await findDueWithdrawals(db, due)) {
    const pause_ms = (await follow(parts, outlet, withdrawal)) ? SEND_AGAIN_MS : 0
    await postpone(db, withdrawal, new Date(clock.now().getTime() + pause_ms))
  }
}

/** True where it was sent again and needs some time. */
async function follow(
  parts: SendingParts,
  outlet: Outlet,
  withdrawal: WithdrawalRow,
): Promise<boolean> {
  const transfer = await findTransfer(parts.db, withdrawal)
  assert(transfer !== undefined, 'what is signed has its bytes')
  const found = await outlet.lookup({ ...transfer, txid: transfer.txid.replace(/^0x/, '') })
  switch (found.fate) {
    case 'unknown':
      await noteBlock(parts, withdrawal, null)
      await broadcastTransfer(parts, outlet, { withdrawal, transfer })
      return true
    case 'mined':
      await noteBroadcast(parts, withdrawal)
      await noteBlock(parts, withdrawal, found.block_number)
      return false
    case 'dead':
      if (withdrawal.attempt < ATTEMPTS_MAX) await beginAttempt(parts, withdrawal)
      else await failWithdrawal(parts, withdrawal, 'not_sent')
      return false
    case 'final':
      await noteBroadcast(parts, withdrawal)
      parts.fail('before_withdrawal_settled')
      if (found.ok) await completeWithdrawal(parts, withdrawal, found.block_number)
      else await failWithdrawal(parts, withdrawal, 'reverted')
      parts.fail('after_withdrawal_settled')
      return false
  }
}
