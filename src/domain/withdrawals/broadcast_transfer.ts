import type { ChainSender } from '#rails/chain/sender.ts'
import { markBroadcasted } from './advance_withdrawal.ts'
import { type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'

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
