import { isKilled } from '#domain/risk/kill_switch.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { ChainSender, LookupOutcome } from '#rails/chain/sender.ts'
import { failWithdrawal, storeTransfer } from './advance_withdrawal.ts'
import { broadcastTransfer } from './broadcast_transfer.ts'
import { dueFilter, putLast, withHotWallet } from './hot_wallet_runs.ts'
import { findNextNonce } from './sender_order_store.ts'
import { type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { holdUnseenTransfer, signTransfer } from './sign_withdrawal.ts'
import { netOf, type WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { findDueWithdrawals, hasDueWithdrawal } from './withdrawal_store.ts'

/** Signs and sends reserved withdrawals. */
export function sendWithdrawalsTask(dependencies: WithdrawalDependencies): Task {
  return {
    name: 'send_withdrawals',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: () =>
      forEachAlone(dependencies.chain_senders, async (chain_sender) => {
        const due = dueFilter(dependencies, chain_sender, 'reserved')
        if (!(await hasDueWithdrawal(dependencies.db, due))) return
        await withHotWallet(dependencies, chain_sender, sendDue)
      }),
  }
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
