import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { NodeFetch } from '#platform/node_fetch.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { DepositSource } from '#rails/chain/deposit_source.ts'
import {
  type JsonRpc,
  jsonRpc,
  numberOf,
  quantity,
  quantityOf,
  RpcRefusal,
} from '#rails/chain/json_rpc.ts'
import { NodeError } from '#rails/chain/node_call.ts'
import type { Outlet, Payment, StoredTransfer, TransferFate } from '#rails/chain/outlet.ts'
import type { BroadcastOutcome } from '#rails/chain/tron/broadcast.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'

/** The estimate is of the block before; balances may have changed from nothing to something. */
const GAS_MARGIN_PERCENT = 130n

/** A base fee may double in six full blocks; a transfer at twice the price outlasts them. */
const FEE_MARGIN = 2n
const PRIORITY_WEI = 1_500_000_000n

/** How nodes say that they have it already. */
const KNOWN = /already known|known transaction|already imported/i

export function evmOutlet(chain: Chain, source: DepositSource, fetch: NodeFetch): Outlet {
  const { url, headers } = chain.settings
  const rpc = jsonRpc({ url, headers: { ...headers }, fetch }, '')
  return {
    chain,
    networkFacts: async (payment) => {
      const mined = await nextNonce(rpc, payment.from, 'latest')
      const { gas, max_fee_per_gas, max_priority_fee_per_gas } = await priced(rpc, payment)
      return {
        family: 'evm',
        chain_id: chain.settings.chain_id,
        nonce: Math.max(mined, (payment.last_nonce ?? -1) + 1),
        gas: gas.toString(),
        max_fee_per_gas: max_fee_per_gas.toString(),
        max_priority_fee_per_gas: max_priority_fee_per_gas.toString(),
      }
    },
    fuelFor: async (payment) => {
      const { gas, max_fee_per_gas } = await priced(rpc, payment)
      const needed = gas * max_fee_per_gas
      const answer = await rpc('eth_getBalance', [`0x${payment.from}`, 'latest'])
      const has = quantityOf(answer, 'a balance')
      return has >= needed ? 0n : needed - has
    },
    broadcast: (transfer) => broadcast(rpc, transfer),
    lookup: (transfer) => fateOf(rpc, source, chain, transfer),
  }
}

async function priced(rpc: JsonRpc, payment: Payment) {
  const price = quantityOf(await rpc('eth_gasPrice', []), 'a price')
  const data = transferCall(hexToBytes(payment.to), payment.amount)
  const call =
    payment.contract === null
      ? { to: `0x${payment.to}`, value: quantity(payment.amount) }
      : { to: `0x${payment.contract}`, data: `0x${bytesToHex(data)}` }
  const gas = await rpc('eth_estimateGas', [{ from: `0x${payment.from}`, ...call }])
  const max_fee_per_gas = price * FEE_MARGIN
  return {
    gas: (quantityOf(gas, 'an estimate') * GAS_MARGIN_PERCENT) / 100n,
    max_fee_per_gas,
    max_priority_fee_per_gas: max_fee_per_gas < PRIORITY_WEI ? max_fee_per_gas : PRIORITY_WEI,
  }
}

async function nextNonce(rpc: JsonRpc, address: string, tag: string): Promise<number> {
  return numberOf(await rpc('eth_getTransactionCount', [`0x${address}`, tag]), 'a count')
}

async function broadcast(rpc: JsonRpc, { raw }: StoredTransfer): Promise<BroadcastOutcome> {
  try {
    await rpc('eth_sendRawTransaction', [`0x${raw}`])
    return { outcome: 'accepted' }
  } catch (cause) {
    if (cause instanceof NodeError) {
      return { outcome: 'retryable', code: cause.failure.toUpperCase(), reason: cause.message }
    }
    if (!(cause instanceof RpcRefusal)) throw cause
    if (KNOWN.test(cause.message)) return { outcome: 'duplicate' }
    return { outcome: 'rejected', code: String(cause.code), reason: cause.message }
  }
}

/** Dead once its place in the order is taken by another transfer that is final. */
async function fateOf(
  rpc: JsonRpc,
  source: DepositSource,
  { hot_wallet }: Chain,
  transfer: StoredTransfer,
): Promise<TransferFate> {
  const finalized = await source.finalized()
  const used = await nextNonce(rpc, hot_wallet, quantity(finalized.number))
  const receipt = await source.receipt(transfer.txid)
  if (receipt !== null) {
    const { ok, block_number, log_indexes } = receipt
    const fate = block_number <= finalized.number ? 'final' : 'mined'
    return { fate, ok: ok && log_indexes.length > 0, block_number }
  }
  return { fate: transfer.nonce !== null && used > Number(transfer.nonce) ? 'dead' : 'unknown' }
}
