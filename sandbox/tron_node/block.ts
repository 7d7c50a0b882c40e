import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { type RawData, readRawBytes, txidOf } from '#rails/chain/tron/transaction.ts'
import type { Undo } from './chain_state.ts'

export type Log = { address: string; topics: readonly string[]; data: string }

/** Amounts are numbers here: fees and energy stay far below 2^53 and go out as JSON. */
export type Receipt = {
  /** Null for what is not a contract call. */
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
  /** Set on what the sandbox sends to make another transfer possible: a fork always keeps it. */
  supports_others?: boolean
}

export type Mined = Transaction & { receipt: Receipt }

export type Block = {
  number: number
  id: string
  parent_id: string
  timestamp_ms: number
  mined: readonly Mined[]
  undo: Undo
  /** The fork that its id was computed for. */
  fork: number
}

/** A block is solidified once 19 of 27 producers built on it: 18 blocks later. */
export const SOLIDIFIED_BEHIND = 18

export function transactionOf(raw: string, signature: string): Transaction | null {
  const bytes = hexToBytes(raw)
  const content = readRawBytes(bytes)
  return content === null ? null : { txid: txidOf(bytes), content, raw, signature }
}

/** The hash covers the fork too, so that no two forks share an id. */
export function blockId(
  { number, parent_id, timestamp_ms }: Pick<Block, 'number' | 'parent_id' | 'timestamp_ms'>,
  txids: readonly string[],
  fork: number,
): string {
  return idFrom(number, [parent_id, timestamp_ms, fork, ...txids])
}

/** From the last block with content before it, so that the empty ones between need no hash. */
export function emptyBlockId({
  number,
  timestamp_ms,
  fork,
  base_id,
}: Pick<Block, 'number' | 'timestamp_ms' | 'fork'> & { base_id: string }): string {
  return idFrom(number, ['empty', base_id, number, timestamp_ms, fork])
}

/** 8 bytes of height, then 24 of a hash. */
function idFrom(number: number, parts: readonly (string | number)[]): string {
  assert(Number.isSafeInteger(number), 'a height is a whole number')
  const height = number.toString(16).padStart(16, '0')
  return height + bytesToHex(sha256(utf8ToBytes(parts.join(':')))).slice(16)
}
