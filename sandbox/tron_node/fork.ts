import { assert } from '#kernel/assert.ts'
import type { ExecutedTransaction, Transaction } from './block.ts'
import { type Chain, FORK_DEPTH_MAX } from './chain.ts'

export type Reorg = {
  depth: number
  /** The orphaned transfers that the new branch includes; `pool` returns them to the pool. */
  keep?: 'all' | 'none' | 'pool' | readonly string[] | { all_but: readonly string[] }
}

export type ReorgOutcome = { kept: string[]; dropped: string[] }

/**
 * Replaces the newest blocks with a branch that is one block longer. Kept transfers are mined at
 * their old block number after an unrelated transfer, so their log index changes. Their reference
 * block is not checked again, because it may be on the old branch.
 */
export function reorganize(
  chain: Chain,
  { depth, keep = 'none' }: Reorg,
  unrelatedTransfer: () => Transaction,
): ReorgOutcome {
  assert(Number.isInteger(depth) && depth > 0, 'a fork is at least one block deep')
  assert(
    depth <= Math.min(FORK_DEPTH_MAX, chain.head_number),
    'the fork is not deeper than allowed',
  )
  const orphans = Array.from({ length: depth }, () => chain.pop()).reverse()
  chain.fork += 1
  const isKept = (one: ExecutedTransaction): boolean =>
    keep === 'all' ||
    one.supports_others === true ||
    (typeof keep === 'object' && isListed(keep, one.txid))
  for (const { timestamp_ms, mined } of orphans) {
    const kept = mined.filter(isKept).map(withoutReceipt)
    chain.append(timestamp_ms, kept.length === 0 ? [] : [unrelatedTransfer(), ...kept])
  }
  chain.append(Math.max(chain.now(), chain.head.timestamp_ms + 1), [])
  const all = orphans.flatMap(({ mined }) => mined)
  const lost = all.filter(({ txid }) => chain.find(txid) === null)
  if (keep === 'pool') chain.pool.unshift(...lost.map(withoutReceipt))
  return {
    kept: all.filter(({ txid }) => chain.find(txid) !== null).map(({ txid }) => txid),
    dropped: lost.map(({ txid }) => txid),
  }
}

function isListed(keep: readonly string[] | { all_but: readonly string[] }, txid: string): boolean {
  return 'all_but' in keep ? !keep.all_but.includes(txid) : keep.includes(txid)
}

function withoutReceipt({ receipt: _, ...transaction }: ExecutedTransaction): Transaction {
  return transaction
}
