import { isKilled } from '#domain/risk/kill_switch.ts'
import { type Lease, withLease } from '#platform/postgres/lease.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Outlet } from '#rails/chain/outlet.ts'
import { failWithdrawal, markBroadcasted, storeTransfer } from './advance_withdrawal.ts'
import { type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { type WithdrawalDependencies, signTransfer } from './sign_withdrawal.ts'
import { netOf, type WithdrawalRow } from './withdrawal.ts'
import { findDueWithdrawals, hasDueWithdrawal } from './withdrawal_store.ts'

/** Signs and sends what was reserved. Sending and confirming share a lease: one hand on the pen. */
export function sendWithdrawalsTask(parts: WithdrawalDependencies): Task {
  return {
    name: 'send_withdrawals',
    every_ms: 1_000,
    idle_ms: 5_000,
    pass: async () => {
      for (const outlet of parts.outlets) {
        if (!(await hasDueWithdrawal(parts.db, dueFilter(parts, outlet, 'reserved')))) continue
        await withLease(parts.db, leaseNameOf(outlet), (lease) =>
          sendDue(...guardWithLease(lease, parts, outlet)),
        )
      }
    },
  }
}

export const leaseNameOf = ({ chain }: Outlet): string => `withdrawals:${chain.name}`

export function dueFilter<Step extends 'reserved' | 'signed'>(
  { clock }: WithdrawalDependencies,
  { chain }: Outlet,
  step: Step,
) {
  return { chain: chain.name, step, now: clock.now() }
}

/** Nothing is signed, sent or written by a node that has lost its lease. */
export function guardWithLease(
  lease: Lease,
  parts: WithdrawalDependencies,
  outlet: Outlet,
): [WithdrawalDependencies, Outlet] {
  const { db, signer } = parts
  return [{ ...parts, db: lease.guard(db), signer: lease.guard(signer) }, lease.guard(outlet)]
}

async function sendDue(parts: WithdrawalDependencies, outlet: Outlet): Promise<void> {
  const { db } = parts
  if (await isKilled(db, 'withdrawals')) return
  const due = dueFilter(parts, outlet, 'reserved')
  for (const withdrawal of await findDueWithdrawals(db, due)) {
    await send(parts, outlet, withdrawal)
  }
}

async function send(parts: WithdrawalDependencies, outlet: Outlet, withdrawal: WithdrawalRow): Promise<void> {
  if (!(await isStillAllowed(parts, withdrawal))) return
  parts.fail('before_sign')
  const transfer = await signTransfer(parts, outlet, withdrawal)
  if (transfer === null) return
  parts.fail('after_sign')
  const sender = outlet.chain.hot_wallet
  const stored = await storeTransfer(parts, withdrawal, { sender, transfer })
  if (stored === null) return
  parts.fail('after_transfer_stored')
  await broadcastTransfer(parts, outlet, { withdrawal: stored, transfer })
}

/** The list may have changed since the request; what cannot be asked about is not sent. */
async function isStillAllowed(parts: WithdrawalDependencies, withdrawal: WithdrawalRow): Promise<boolean> {
  const { decision } = await parts.screener.screen({
    chain: withdrawal.chain,
    address: withdrawal.address,
    direction: 'out',
    amount_micros: netOf(withdrawal),
  })
  // What a person has approved once is not asked about by a doubt again, only by a ban.
  if (decision === 'block') await failWithdrawal(parts, withdrawal, 'screening')
  return decision !== 'block'
}

type Sending = { withdrawal: WithdrawalRow; transfer: SentTransferRow }

/**
 * Sends the stored bytes, for the first time or again. A refusal proves nothing about an earlier
 * try whose answer was lost, so it never ends a withdrawal: only its fate on the chain does.
 */
export async function broadcastTransfer(
  parts: WithdrawalDependencies,
  outlet: Outlet,
  { withdrawal, transfer }: Sending,
): Promise<void> {
  const bytes = toStoredTransfer(outlet.chain.hot_wallet, transfer)
  const { outcome, ...answer } = await outlet.broadcast(bytes)
  parts.fail('after_broadcast')
  if (outcome === 'accepted' || outcome === 'duplicate') {
    await markBroadcasted(parts, withdrawal)
    parts.fail('after_broadcast_noted')
    return
  }
  const { code, reason } = answer as { code: string; reason: string }
  const fields = { withdrawal_id: withdrawal.id, txid: transfer.txid, code }
  parts.log.error('a transfer was not taken by the node', fields, new Error(reason))
}
