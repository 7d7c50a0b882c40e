import { isKilled } from '#domain/risk/kill_switch.ts'
import { type Lease, withLease } from '#platform/postgres/lease.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { ChainSender, LookupOutcome } from '#rails/chain/sender.ts'
import { failWithdrawal, markBroadcasted, storeTransfer } from './advance_withdrawal.ts'
import { findNextNonce } from './sender_order_store.ts'
import { type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { holdUnseenTransfer, signTransfer } from './sign_withdrawal.ts'
import { netOf, type WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { findDueWithdrawals, hasDueWithdrawal, postpone } from './withdrawal_store.ts'

/** Signs and sends reserved withdrawals. It shares a lease with the task that confirms them. */
export function sendWithdrawalsTask(dependencies: WithdrawalDependencies): Task {
  return {
    name: 'send_withdrawals',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: () =>
      forEachAlone(dependencies.chain_senders, async (chain_sender) => {
        const due = dueFilter(dependencies, chain_sender, 'reserved')
        if (!(await hasDueWithdrawal(dependencies.db, due))) return
        await withLease(dependencies.db, leaseNameOf(chain_sender), (lease) =>
          sendDue(...guardWithLease(lease, dependencies, chain_sender)),
        )
      }),
  }
}

export const leaseNameOf = ({ chain }: ChainSender): string => `withdrawals:${chain.name}`

export function dueFilter<Step extends 'reserved' | 'signed'>(
  { clock }: WithdrawalDependencies,
  { chain }: ChainSender,
  step: Step,
) {
  return { chain: chain.name, step, now: clock.now() }
}

/** A node that has lost its lease can no longer sign, send or write. */
export function guardWithLease(
  lease: Lease,
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): [WithdrawalDependencies, ChainSender] {
  const { db, signer } = dependencies
  return [
    { ...dependencies, db: lease.guard(db), signer: lease.guard(signer) },
    lease.guard(chain_sender),
  ]
}

async function sendDue(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): Promise<void> {
  const { db } = dependencies
  const due = dueFilter(dependencies, chain_sender, 'reserved')
  for (const withdrawal of await findDueWithdrawals(db, due)) {
    // Signing takes a second or two: a switch that is turned on stops the rest of the run.
    if (await isKilled(db, 'withdrawals')) return
    await sendWithdrawal(dependencies, chain_sender, withdrawal).catch(
      putLast(dependencies, withdrawal),
    )
  }
}

/** The next run begins with the others: a withdrawal that always fails must not stop them. */
export function putLast({ db, clock }: WithdrawalDependencies, withdrawal: WithdrawalRow) {
  return async (cause: unknown): Promise<never> => {
    await postpone(db, withdrawal, clock.now())
    throw cause
  }
}

async function sendWithdrawal(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  withdrawal: WithdrawalRow,
): Promise<void> {
  if (!(await isStillAllowed(dependencies, withdrawal))) return
  dependencies.fail('before_sign')
  const transfer = await signTransfer(dependencies, chain_sender, withdrawal)
  if (transfer === null) return
  dependencies.fail('after_sign')
  const sender = chain_sender.chain.hot_wallet
  const known = await findKnownOutcome(dependencies, chain_sender, transfer)
  if (known?.outcome === 'unknown') {
    return holdUnseenTransfer(dependencies, withdrawal, transfer)
  }
  const is_mined = known !== null && 'result' in known
  const stored = await storeTransfer(dependencies, withdrawal, { sender, transfer, is_mined })
  if (stored === null) return
  dependencies.fail('after_transfer_stored')
  await broadcastTransfer(dependencies, chain_sender, { withdrawal: stored, transfer })
}

/**
 * The outcome of a transfer whose nonce an earlier one has passed; null for a new one. The signer
 * may have signed it before the database was restored, and only the chain says if it was sent: if
 * it may still be mined, no other is signed.
 */
async function findKnownOutcome(
  { db }: WithdrawalDependencies,
  chain_sender: ChainSender,
  transfer: SentTransferRow,
): Promise<LookupOutcome | null> {
  const { name: chain, hot_wallet: address } = chain_sender.chain
  if (transfer.nonce === null) return null
  const next_nonce = await findNextNonce(db, { chain, address })
  if (next_nonce === null || transfer.nonce >= next_nonce) return null
  return chain_sender.lookup(toStoredTransfer(address, transfer))
}

/** Screens the address again, because the list may have changed since the request. */
async function isStillAllowed(
  dependencies: WithdrawalDependencies,
  withdrawal: WithdrawalRow,
): Promise<boolean> {
  const { decision } = await dependencies.screener.screen({
    chain: withdrawal.chain,
    address: withdrawal.address,
    direction: 'out',
    amount_micros: netOf(withdrawal),
  })
  // An operator has approved addresses with `review`, so only `block` counts here.
  if (decision === 'block') await failWithdrawal(dependencies, withdrawal, 'screening')
  return decision !== 'block'
}

type TransferToSend = { withdrawal: WithdrawalRow; transfer: SentTransferRow }

/**
 * Sends the stored bytes, for the first time or again. A node may refuse bytes that it accepted
 * earlier in a response that was lost, so a refusal never fails a withdrawal; only the chain does.
 */
export async function broadcastTransfer(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  { withdrawal, transfer }: TransferToSend,
): Promise<void> {
  const bytes = toStoredTransfer(chain_sender.chain.hot_wallet, transfer)
  const { outcome, ...response } = await chain_sender.broadcast(bytes)
  dependencies.fail('after_broadcast')
  if (outcome === 'accepted' || outcome === 'duplicate') {
    await markBroadcasted(dependencies, withdrawal)
    dependencies.fail('after_broadcast_noted')
    return
  }
  const { code, reason } = response as { code: string; reason: string }
  const fields = { withdrawal_id: withdrawal.id, txid: transfer.txid, code }
  dependencies.log.error('the node refused a transfer', fields, new Error(reason))
}
