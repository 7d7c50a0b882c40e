import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { custodyOn } from '#rails/chain/custody.ts'
import type { ChainReceipt, DepositSource } from '#rails/chain/deposit_source.ts'
import { isRefusal, type JsonRpc, jsonRpc, quantity, RpcError } from '#rails/chain/json_rpc.ts'
import { NodeError } from '#rails/chain/node_call.ts'
import type {
  ChainSender,
  LookupOutcome,
  StoredTransfer,
  TransferResult,
} from '#rails/chain/sender.ts'
import type { BroadcastOutcome } from '#rails/chain/tron/broadcast.ts'
import { findNonceUser, nextNonce } from './nonce_user.ts'
import { evmPricing } from './pricing.ts'
import { readRawTransfer } from './raw_transfer.ts'

/** Error messages of nodes that already have the transaction. */
const KNOWN = /already known|known transaction|already imported/i

/** Even the slowest node of a load balancer has the receipts this far below the final block. */
const LAGGING_BLOCKS = 20

export function evmSender(chain: Chain, source: DepositSource, fetch: NodeFetch): ChainSender {
  const { url, headers, chain_id } = chain.settings
  const rpc = jsonRpc({ url, headers: { ...headers }, fetch }, '')
  const pricing = evmPricing(rpc, chain)
  const balanceOf = custodyOn(chain.settings, fetch)
  return {
    chain,
    networkParameters: async (payment) => {
      const mined = await nextNonce(rpc, payment.from, 'latest')
      const price = await pricing.priceOf(payment)
      const nonce = Math.max(mined, payment.next_nonce ?? 0)
      return { family: 'evm', chain_id, nonce, ...price }
    },
    replacementParameters: async (payment, { raw, nonce }) => {
      const price = await pricing.priceAbove(payment, readRawTransfer(raw))
      return price === null ? null : { family: 'evm', chain_id, nonce: Number(nonce), ...price }
    },
    missingFuel: pricing.missingFuel,
    assetBalance: ({ contract, from }) => balanceOf(contract ?? '', from),
    broadcast: (transfer) => broadcast(rpc, transfer),
    lookup: (transfer) => findOutcome(rpc, source, transfer),
    findNonceUser: async (transfer) => {
      const { number } = await source.finalized()
      return findNonceUser(rpc, transfer, number)
    },
  }
}

async function broadcast(rpc: JsonRpc, { raw }: StoredTransfer): Promise<BroadcastOutcome> {
  try {
    await rpc('eth_sendRawTransaction', [`0x${raw}`])
    return { outcome: 'accepted' }
  } catch (cause) {
    if (cause instanceof NodeError) {
      return { outcome: 'retryable', code: cause.failure.toUpperCase(), reason: cause.message }
    }
    if (!(cause instanceof RpcError)) throw cause
    if (KNOWN.test(cause.message)) return { outcome: 'duplicate' }
    return { outcome: 'rejected', code: String(cause.code), reason: cause.message }
  }
}

/**
 * A transfer is dead if another transfer used its nonce so long ago that every node would have its
 * own receipt by now.
 */
async function findOutcome(
  rpc: JsonRpc,
  source: DepositSource,
  transfer: StoredTransfer,
): Promise<LookupOutcome> {
  const finalized = await source.finalized()
  const receipt = await source.receipt(transfer.txid)
  if (receipt === null) {
    const isTaken = await isNonceTaken(rpc, transfer, finalized.number - LAGGING_BLOCKS)
    return { outcome: isTaken ? 'dead' : 'unknown' }
  }
  const { block_number } = receipt
  const outcome = block_number <= finalized.number ? 'final' : 'mined'
  return { outcome, result: resultOf(transfer, receipt), block_number }
}

function resultOf(transfer: StoredTransfer, receipt: ChainReceipt): TransferResult {
  if (!receipt.ok) return 'reverted'
  return hasMovedAmount(transfer, receipt) ? 'success' : 'mismatch'
}

async function isNonceTaken(
  rpc: JsonRpc,
  { from, nonce }: StoredTransfer,
  block: number,
): Promise<boolean> {
  // Nodes may have pruned older state, so ask for it only if the nonce is used by now.
  if (nonce === null || block < 0 || (await nextNonce(rpc, from, 'latest')) <= Number(nonce)) {
    return false
  }
  try {
    return (await nextNonce(rpc, from, quantity(block))) > Number(nonce)
  } catch (cause) {
    if (isRefusal(cause)) return false
    throw cause
  }
}

/** A successful status is not enough: the contract must have emitted the exact Transfer. */
function hasMovedAmount({ raw, from }: StoredTransfer, { logs }: ChainReceipt): boolean {
  const { asset } = readRawTransfer(raw)
  if (asset === null) return true
  return logs.some(
    ({ transfer }) =>
      transfer?.contract === asset.contract &&
      transfer.from === from &&
      transfer.to === asset.to &&
      transfer.value === asset.amount,
  )
}
