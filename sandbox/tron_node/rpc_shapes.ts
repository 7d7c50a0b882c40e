import { bytesToHex } from '@noble/hashes/utils.js'
import type { TronContract } from '#rails/chain/tron/contract.ts'
import type { Block } from './block.ts'
import type { MinedTransaction } from './chain.ts'
import { ENERGY_SUN } from './resources.ts'

/** TRON data as java-tron's JSON-RPC returns it: 20-byte addresses, and energy as gas. */
type Json = Record<string, unknown>

const NO_BLOOM = `0x${'00'.repeat(256)}`
const NO_HASH = `0x${'00'.repeat(32)}`
const NOBODY = `0x${'00'.repeat(20)}`
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

export function rpcBlock(block: Block, full: boolean): Json {
  const energy = block.mined.reduce((sum, { receipt }) => sum + receipt.energy_total, 0)
  return {
    number: quantity(block.number),
    hash: `0x${block.id}`,
    parentHash: `0x${block.parent_id}`,
    timestamp: quantity(Math.floor(block.timestamp_ms / 1000)),
    transactions: block.mined.map((mined, index) =>
      full ? rpcTransaction({ block, mined, index }) : `0x${mined.txid}`,
    ),
    gasUsed: quantity(energy),
    gasLimit: quantity(0),
    baseFeePerGas: quantity(0),
    difficulty: quantity(0),
    totalDifficulty: quantity(0),
    nonce: '0x0000000000000000',
    size: quantity(512),
    extraData: '0x',
    logsBloom: NO_BLOOM,
    miner: NOBODY,
    mixHash: NO_HASH,
    receiptsRoot: NO_HASH,
    sha3Uncles: NO_UNCLES,
    stateRoot: NO_HASH,
    transactionsRoot: NO_HASH,
    uncles: [],
  }
}

export function rpcTransaction({ block, mined, index }: MinedTransaction): Json {
  const { contract } = mined.content
  const data = contract.type === 'TriggerSmartContract' ? bytesToHex(contract.data) : ''
  const value = contract.type === 'TransferContract' ? contract.amount_sun : 0n
  return {
    hash: `0x${mined.txid}`,
    blockHash: `0x${block.id}`,
    blockNumber: quantity(block.number),
    transactionIndex: quantity(index),
    from: `0x${bytesToHex(contract.owner)}`,
    to: `0x${bytesToHex(recipientOf(contract))}`,
    gas: quantity(mined.receipt.energy_total),
    gasPrice: quantity(ENERGY_SUN),
    input: `0x${data}`,
    nonce: '0x0',
    value: quantity(value),
    type: '0x0',
    r: `0x${mined.signature.slice(0, 64)}`,
    s: `0x${mined.signature.slice(64, 128)}`,
    v: `0x${mined.signature.slice(128)}`,
  }
}

export function rpcReceipt(located: MinedTransaction): Json {
  const { block, mined, index } = located
  const before = block.mined.slice(0, index)
  const energy = mined.receipt.energy_total
  const energy_before = before.reduce((sum, { receipt }) => sum + receipt.energy_total, 0)
  const hasFailed = mined.receipt.result !== null && mined.receipt.result !== 'SUCCESS'
  return {
    transactionHash: `0x${mined.txid}`,
    transactionIndex: quantity(index),
    blockHash: `0x${block.id}`,
    blockNumber: quantity(block.number),
    from: `0x${bytesToHex(mined.content.contract.owner)}`,
    to: `0x${bytesToHex(recipientOf(mined.content.contract))}`,
    contractAddress: null,
    status: hasFailed ? '0x0' : '0x1',
    gasUsed: quantity(energy),
    cumulativeGasUsed: quantity(energy_before + energy),
    effectiveGasPrice: quantity(ENERGY_SUN),
    logs: rpcLogs(located),
    logsBloom: NO_BLOOM,
    type: '0x0',
  }
}

/** Log indexes count through the block, so they depend on earlier transactions. */
export function rpcLogs({ block, mined, index }: MinedTransaction): Json[] {
  const first = block.mined
    .slice(0, index)
    .reduce((sum, { receipt }) => sum + receipt.logs.length, 0)
  return mined.receipt.logs.map((log, ordinal) => ({
    address: `0x${log.address}`,
    topics: log.topics.map((topic) => `0x${topic}`),
    data: `0x${log.data}`,
    blockHash: `0x${block.id}`,
    blockNumber: quantity(block.number),
    transactionHash: `0x${mined.txid}`,
    transactionIndex: quantity(index),
    logIndex: quantity(first + ordinal),
    removed: false,
  }))
}

function recipientOf(contract: TronContract): Uint8Array {
  switch (contract.type) {
    case 'TriggerSmartContract':
      return contract.contract
    case 'TransferContract':
      return contract.to
    case 'DelegateResourceContract':
      return contract.receiver
  }
}
