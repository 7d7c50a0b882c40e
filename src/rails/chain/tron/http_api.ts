import { bytesToHex } from '@noble/hashes/utils.js'
import { type NodeCall, NodeError, type NodeSettings, nodeCaller } from '#rails/chain/node_call.ts'
import { tronHexFromBytes } from './address.ts'
import { type BroadcastOutcome, broadcast } from './broadcast.ts'
import {
  blockOf,
  type ContractCallResult,
  chainParametersOf,
  contractCallResultOf,
  integer,
  objectOf,
  receiptOf,
  receiptsOf,
  resourcesOf,
  type TronBlock,
  type TronReceipt,
  type TronResources,
} from './http_responses.ts'
import type { SignedTransaction } from './transaction.ts'
import { isObject } from './transaction_json.ts'

/** `head` includes the newest blocks, which a fork may remove; `solid` only solidified ones. */
type Depth = 'head' | 'solid'

type ContractCall = {
  owner: Uint8Array
  contract: Uint8Array
  /** A Solidity signature: transfer(address,uint256) */
  function: string
  parameter: Uint8Array
}

type TronFees = { energy_sun: bigint; bandwidth_sun: bigint; activation_sun: bigint }

export type TronHttpApi = {
  now(depth: Depth): Promise<TronBlock>
  block(number: number): Promise<TronBlock | null>
  broadcast(signed: SignedTransaction): Promise<BroadcastOutcome>
  receipt(txid: string, depth: Depth): Promise<TronReceipt | null>
  receiptsOfBlock(number: number, depth: Depth): Promise<TronReceipt[]>
  call(call: ContractCall, depth: Depth): Promise<ContractCallResult>
  /** Null if the node does not support it (vm.estimateEnergy is off by default) or it reverts. */
  estimateEnergy(call: ContractCall): Promise<bigint | null>
  resources(address: Uint8Array): Promise<TronResources>
  /** Null for an address that has never received TRX. */
  balance(address: Uint8Array, depth: Depth): Promise<bigint | null>
  fees(): Promise<TronFees>
}

const PREFIXES = { head: 'wallet', solid: 'walletsolidity' } as const satisfies Record<
  Depth,
  string
>

/** The calls of TRON's HTTP API that deposits, withdrawals and sweeps need. */
export function tronHttpApi(settings: NodeSettings): TronHttpApi {
  const call = nodeCaller(settings)
  return {
    now: async (depth) => blockOf(await call(`${PREFIXES[depth]}/getnowblock`, {})),
    block: async (number) => {
      const request = { id_or_num: String(number), detail: false }
      const response = await call('wallet/getblock', request)
      return isObject(response) && Object.keys(response).length === 0 ? null : blockOf(response)
    },
    broadcast: (signed) => broadcast(call, signed),
    receipt: async (txid, depth) =>
      receiptOf(await call(`${PREFIXES[depth]}/gettransactioninfobyid`, { value: txid })),
    receiptsOfBlock: async (num, depth) =>
      receiptsOf(await call(`${PREFIXES[depth]}/gettransactioninfobyblocknum`, { num })),
    call: async (request, depth) =>
      contractCallResultOf(
        await call(`${PREFIXES[depth]}/triggerconstantcontract`, callRequest(request)),
      ),
    estimateEnergy: (request) => estimateEnergyOf(call, request),
    resources: async (address) =>
      resourcesOf(await call('wallet/getaccountresource', { address: tronHexFromBytes(address) })),
    balance: async (address, depth) => {
      const request = { address: tronHexFromBytes(address) }
      const found = objectOf(await call(`${PREFIXES[depth]}/getaccount`, request), 'an account')
      return Object.keys(found).length === 0 ? null : BigInt(integer(found.balance))
    },
    fees: () => readFees(call),
  }
}

function callRequest(request: ContractCall): Record<string, unknown> {
  return {
    owner_address: tronHexFromBytes(request.owner),
    contract_address: tronHexFromBytes(request.contract),
    function_selector: request.function,
    parameter: bytesToHex(request.parameter),
    visible: false,
  }
}

async function estimateEnergyOf(call: NodeCall, request: ContractCall): Promise<bigint | null> {
  const response = objectOf(
    await call('wallet/estimateenergy', callRequest(request)),
    'an estimate',
  )
  const energy = integer(response.energy_required)
  return energy === 0 ? null : BigInt(energy)
}

/** A missing price is an error, not a price of zero. */
async function readFees(call: NodeCall): Promise<TronFees> {
  const parameters = chainParametersOf(await call('wallet/getchainparameters', {}))
  const priceOf = (key: string): bigint => {
    const price = parameters.get(key)
    if (price === undefined) throw new NodeError('bad_answer', `the node has no ${key}`)
    return price
  }
  return {
    energy_sun: priceOf('getEnergyFee'),
    bandwidth_sun: priceOf('getTransactionFee'),
    activation_sun:
      priceOf('getCreateNewAccountFeeInSystemContract') + priceOf('getCreateAccountFee'),
  }
}
