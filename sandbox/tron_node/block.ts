import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { type RawData, readRawBytes, txidOf } from '#rails/chain/tron/transaction.ts'
import type { Undo } from './chain_state.ts'

export type Log = { address: string; topics: readonly string[]; data: string }

/** Fees and energy are numbers, because they stay far below 2^53 and are sent as JSON. */
export type Receipt = {
  /** Null if it is not a contract call. */
  result: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY' | null
  returned: string
  reason: string
  fee_sun: number
  energy_staked: number
  energy_fee_sun: number
  energy_total: number
  bandwidth_used: number
  bandwidth_fee_sun: number
  logs: readonly Log[]
}

export type Transaction = {
  txid: string
  content: RawData
  raw: string
  signature: string
  /** Set on transfers that fund another transfer; a fork always keeps them. */
  supports_others?: boolean
}

export type ExecutedTransaction = Transaction & { receipt: Receipt }

export type Block = {
  number: number
  id: string
  parent_id: string
  timestamp_ms: number
  mined: readonly ExecutedTransaction[]
  undo: Undo
  /** The fork that its ID was computed for. */
  fork: number
}

/** A block is solidified when 19 of 27 producers have built on it, 18 blocks later. */
export const SOLIDIFIED_BEHIND = 18

export function transactionOf(raw: string, signature: string): Transaction | null {
  const bytes = hexToBytes(raw)
  const content = readRawBytes(bytes)
  return content === null ? null : { txid: txidOf(bytes), content, raw, signature }
}

/** The hash includes the fork, so forks never share an ID. */
export function blockId(
  { number, parent_id, timestamp_ms }: Pick<Block, 'number' | 'parent_id' | 'timestamp_ms'>,
  txids: readonly string[],
  fork: number,
): string {
  return idFrom(number, [parent_id, timestamp_ms, fork, ...txids])
}

/** Depends on the last block with content, so empty blocks between need no hash. */
export function emptyBlockId({
  number,
  timestamp_ms,
  fork,
  base_id,
}: Pick<Block, 'number' | 'timestamp_ms' | 'fork'> & { base_id: string }): string {
  return idFrom(number, ['empty', base_id, number, timestamp_ms, fork])
}

/** 8 bytes of the number, then 24 of a hash. */
function idFrom(number: number, parts: readonly (string | number)[]): string {
  assert(Number.isSafeInteger(number), 'a block number is an integer')
  const height = number.toString(16).padStart(16, '0')
  return height + bytesToHex(sha256(utf8ToBytes(parts.join(':')))).slice(16)
}
