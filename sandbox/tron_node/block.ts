import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { type RawData, readRawBytes, txidOf } from '#rails/chain/tron/transaction.ts'
import type { Undo } from './world.ts'

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

/** 8 bytes of height, then 24 of a hash that covers the fork too, so that no two forks share it. */
export function blockId(
  block: Pick<Block, 'number' | 'parent_id' | 'timestamp_ms'>,
  txids: readonly string[],
  fork: number,
): string {
  assert(Number.isSafeInteger(block.number), 'a height is a whole number')
  const text = [block.parent_id, block.timestamp_ms, fork, ...txids].join(':')
  const height = block.number.toString(16).padStart(16, '0')
  return height + bytesToHex(sha256(utf8ToBytes(text))).slice(16)
}
