import { type Hex, numberToHex, parseSignature } from 'viem'
import { BASE_FEE_WEI, type Block, type EvmChain, type MinedTransaction } from './chain.ts'

/** The JSON of blocks, transactions and receipts in node responses. */
type Json = Record<string, unknown>

const NO_BLOOM = `0x${'00'.repeat(256)}`
const NO_HASH = `0x${'00'.repeat(32)}`
const NOBODY = `0x${'00'.repeat(20)}`
const BLOCK_GAS_MAX = 30_000_000n

export function blockJson(block: Block, isFull: boolean, chain: EvmChain): Json {
  const { mined } = block
  return {
    number: numberToHex(block.number),
    hash: block.hash,
    parentHash: block.parent,
    timestamp: numberToHex(block.time_s),
    transactions: mined === null ? [] : [isFull ? transactionJson(mined, chain) : mined.hash],
    gasUsed: numberToHex(mined?.gas_used ?? 0n),
    gasLimit: numberToHex(BLOCK_GAS_MAX),
    baseFeePerGas: numberToHex(BASE_FEE_WEI),
    difficulty: '0x0',
    totalDifficulty: '0x0',
    nonce: '0x0000000000000000',
    size: '0x200',
    extraData: '0x',
    logsBloom: NO_BLOOM,
    miner: NOBODY,
    mixHash: NO_HASH,
    receiptsRoot: NO_HASH,
    sha3Uncles: NO_HASH,
    stateRoot: NO_HASH,
    transactionsRoot: NO_HASH,
    uncles: [],
  }
}

const hashOfBlock = ({ number }: MinedTransaction, chain: EvmChain) =>
  chain.blocks[number]?.hash ?? NO_HASH

export function transactionJson(mined: MinedTransaction, chain: EvmChain): Json {
  const { content } = mined
  const { r, s, yParity } = parseSignature(signatureOf(content))
  return {
    hash: mined.hash,
    blockHash: hashOfBlock(mined, chain),
    blockNumber: numberToHex(mined.number),
    transactionIndex: '0x0',
    from: mined.from,
    to: content.to ?? null,
    chainId: numberToHex(content.chainId ?? 0),
    nonce: numberToHex(content.nonce ?? 0),
    value: numberToHex(content.value ?? 0n),
    gas: numberToHex(content.gas ?? 0n),
    gasPrice: numberToHex(mined.price_wei),
    maxFeePerGas: numberToHex(content.maxFeePerGas ?? mined.price_wei),
    maxPriorityFeePerGas: numberToHex(content.maxPriorityFeePerGas ?? 0n),
    input: content.data ?? '0x',
    accessList: [],
    type: '0x2',
    r,
    s,
    v: numberToHex(yParity ?? 0),
    yParity: numberToHex(yParity ?? 0),
  }
}

function signatureOf({ r, s, yParity, v }: MinedTransaction['content']): Hex {
  const word = (value: Hex | undefined) => (value ?? '0x').slice(2).padStart(64, '0')
  const parity = yParity ?? Number((v ?? 27n) % 27n)
  return `0x${word(r)}${word(s)}${(27 + parity).toString(16)}`
}

export function receiptJson(mined: MinedTransaction, chain: EvmChain): Json {
  return {
    transactionHash: mined.hash,
    transactionIndex: '0x0',
    blockHash: hashOfBlock(mined, chain),
    blockNumber: numberToHex(mined.number),
    from: mined.from,
    to: mined.content.to ?? null,
    contractAddress: null,
    status: mined.ok ? '0x1' : '0x0',
    gasUsed: numberToHex(mined.gas_used),
    cumulativeGasUsed: numberToHex(mined.gas_used),
    effectiveGasPrice: numberToHex(mined.price_wei),
    logs: logsJson(mined, chain),
    logsBloom: NO_BLOOM,
    type: '0x2',
  }
}

export function logsJson(mined: MinedTransaction, chain: EvmChain): Json[] {
  return mined.logs.map((log, index) => ({
    ...log,
    blockHash: hashOfBlock(mined, chain),
    blockNumber: numberToHex(mined.number),
    transactionHash: mined.hash,
    transactionIndex: '0x0',
    logIndex: numberToHex(index),
    removed: false,
  }))
}
