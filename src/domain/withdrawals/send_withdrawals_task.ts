import { isKilled } from '#domain/access/kill_switch.ts'
import { assert } from '#kernel/assert.ts'
import type { Seams } from '#platform/context.ts'
import { withLease } from '#platform/lease.ts'
import type { Task } from '#platform/tasks.ts'
import type { Outlet } from '#rails/chain/outlet.ts'
import type { SignerClient } from '#rails/signer/client.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import {
  failWithdrawal,
  holdForReview,
  noteBroadcast,
  storeTransfer,
} from './advance_withdrawal.ts'
import { netOf, type WithdrawalRow, type WithdrawalTransferRow } from './withdrawal.ts'
import { findDueWithdrawals, lastNonce } from './withdrawal_store.ts'

export type SendingParts = Pick<
  Seams,
  'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log' | 'fail'
> & { signer: SignerClient; outlets: readonly Outlet[] }

/** A signer that has refused is asked again after so long, for its limits are by the hour. */
const REFUSED_MS = 60_000

/** Signs and sends what was reserved. Sending and confirming share a lease: one hand on the pen. */
export function sendWithdrawalsTask(parts: SendingParts): Task {
  return {
    name: 'send_withdrawals',
    every_ms: 1_000,
    pass: async () => {
      for (const outlet of parts.outlets) {
        await withLease(parts.db, leaseOf(outlet), () => sendDue(parts, outlet))
      }
    },
  }
}

export const leaseOf = ({ chain }: Outlet): string => `withdrawals:${chain.name}`

async function sendDue(parts: SendingParts, outlet: Outlet): Promise<void> {
  const { db, clock } = parts
  if (await isKilled(db, 'withdrawals')) return
  const due = { chain: outlet.chain.name, step: 'reserved', now: clock.now() } as const
  for (const withdrawal of await findDueWithdrawals(db, due)) {
    await send(parts, outlet, withdrawal)
  }
}

async function send(parts: SendingParts, outlet: Outlet, withdrawal: WithdrawalRow): Promise<void> {
  if (!(await isStillAllowed(parts, withdrawal))) return
  parts.fail('before_sign')
  const transfer = await signedTransfer(parts, outlet, withdrawal)
  if (transfer === null) return
  parts.fail('after_sign')
  const stored = await storeTransfer(parts, withdrawal, transfer)
  if (stored === null) return
  parts.fail('after_transfer_stored')
  await broadcastTransfer(parts, outlet, { withdrawal: stored, transfer })
}

/** The list may have changed since the request; what cannot be asked about is not sent. */
async function isStillAllowed(parts: SendingParts, withdrawal: WithdrawalRow): Promise<boolean> {
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

async function signedTransfer(
  parts: SendingParts,
  outlet: Outlet,
  withdrawal: WithdrawalRow,
): Promise<WithdrawalTransferRow | null> {
  const intent = await intentOf(parts, outlet, withdrawal)
  const outcome = await parts.signer.sign(intent)
  if (!outcome.ok) {
    parts.log.error(
      'the signer refused a withdrawal',
      { withdrawal_id: withdrawal.id, refusal: outcome.refusal },
      new Error(outcome.refusal),
    )
    const next_try_at = new Date(parts.clock.now().getTime() + REFUSED_MS)
    await holdForReview(parts, withdrawal, { next_try_at })
    return null
  }
  const { txid, raw, signature, expires_at_ms, nonce } = outcome.transfer
  return {
    attempt: withdrawal.attempt,
    txid: outlet.chain.showTxid(txid),
    raw,
    signature,
    expires_at: expires_at_ms === null ? null : new Date(expires_at_ms),
    nonce: nonce === null ? null : BigInt(nonce),
  }
}

async function intentOf(
  { db }: SendingParts,
  { chain, networkFacts }: Outlet,
  withdrawal: WithdrawalRow,
): Promise<TransferIntent> {
  const asset = chain.asset(withdrawal.asset)
  const to = chain.readAddress(withdrawal.address)
  assert(asset !== undefined && to !== null, 'a withdrawal was checked when it was asked for')
  const amount = netOf(withdrawal)
  const network = await networkFacts({
    from: chain.hot_wallet,
    to,
    contract: asset.contract,
    amount,
    last_nonce: await lastNonce(db, chain.name),
  })
  return {
    id: withdrawal.id,
    attempt: withdrawal.attempt,
    purpose: 'withdrawal',
    chain: chain.name,
    contract: chain.showAddress(asset.contract),
    deposit_index: null,
    to: withdrawal.address,
    amount: amount.toString(),
    network,
    approval: withdrawal.approval,
  }
}

type Sending = { withdrawal: WithdrawalRow; transfer: WithdrawalTransferRow }

/**
 * Sends the stored bytes, for the first time or again. A refusal proves nothing about an earlier
 * try whose answer was lost, so it never ends a withdrawal: only its fate on the chain does.
 */
export async function broadcastTransfer(
  parts: SendingParts,
  outlet: Outlet,
  { withdrawal, transfer }: Sending,
): Promise<void> {
  const { outcome, ...answer } = await outlet.broadcast({
    ...transfer,
    txid: transfer.txid.replace(/^0x/, ''),
  })
  parts.fail('after_broadcast')
  if (outcome === 'accepted' || outcome === 'duplicate') {
    await noteBroadcast(parts, withdrawal)
    parts.fail('after_broadcast_noted')
    return
  }
  const { code, reason } = answer as { code: string; reason: string }
  const fields = { withdrawal_id: withdrawal.id, txid: transfer.txid, code }
  parts.log.error('a transfer was not taken by the node', fields, new Error(reason))
}
