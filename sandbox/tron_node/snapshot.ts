import { assert } from '#kernel/assert.ts'
import { type Block, blockId, type Receipt, type Transaction, transactionOf } from './block.ts'
import type { Chain } from './chain.ts'

/**
 * All of a chain as plain JSON. Empty blocks are most of it, and those that follow each other at
 * the usual pace are told by their number alone: their ids can be computed again.
 */
export type TronSnapshot = {
  version: 1
  chain_id: number
  fork: number
  world: [string, string][]
  pool: SavedTransaction[]
  blocks: (SavedBlock | EmptyRun)[]
}

type SavedTransaction = { raw: string; signature: string; supports_others?: boolean }
type SavedMined = SavedTransaction & { receipt: Receipt }
type SavedBlock = Omit<Block, 'mined' | 'undo' | 'fork'> & {
  /** Absent in what was saved before it was kept. */
  fork?: number
  mined: SavedMined[]
  undo: [string, string][]
}
type EmptyRun = { fork: number; step_ms: number; count: number }

export function snapshotOf(chain: Chain): TronSnapshot {
  const blocks: TronSnapshot['blocks'] = []
  let before: Block | null = null
  for (const block of chain.blocks.values()) {
    const last = blocks.at(-1)
    const step_ms = block.timestamp_ms - (before?.timestamp_ms ?? 0)
    if (before === null || !isPlain(block, before, chain.fork)) blocks.push(saved(block))
    else if (last !== undefined && 'count' in last && last.step_ms === step_ms) last.count += 1
    else blocks.push({ fork: chain.fork, step_ms, count: 1 })
    before = block
  }
  return {
    version: 1,
    chain_id: chain.chain_id,
    fork: chain.fork,
    world: chain.world.entries().map(([key, value]) => [key, String(value)]),
    pool: chain.pool.map(savedTransaction),
    blocks,
  }
}

/** Fills a chain that has no blocks yet. */
export function restoreInto(chain: Chain, snapshot: TronSnapshot): void {
  assert(snapshot.version === 1, 'the snapshot is of a version we know')
  assert(snapshot.chain_id === chain.chain_id, 'a snapshot returns to its own chain')
  assert(chain.head_number === -1, 'a snapshot fills an empty chain')
  for (const [key, value] of snapshot.world) chain.world.set(key, BigInt(value))
  chain.world.takeUndo()
  for (const item of snapshot.blocks) {
    if ('count' in item) adoptRun(chain, item)
    else chain.adopt(restored(item))
  }
  chain.fork = snapshot.fork
  chain.pool = snapshot.pool.map(readBack)
}

function isPlain(block: Block, before: Block, fork: number): boolean {
  return (
    block.mined.length === 0 &&
    block.undo.length === 0 &&
    block.parent_id === before.id &&
    block.fork === fork
  )
}

function adoptRun(chain: Chain, { fork, step_ms, count }: EmptyRun): void {
  for (let left = count; left > 0; left -= 1) {
    const { number, id: parent_id, timestamp_ms } = chain.head
    const next = { number: number + 1, parent_id, timestamp_ms: timestamp_ms + step_ms }
    chain.adopt({ ...next, id: blockId(next, [], fork), mined: [], undo: [], fork })
  }
}

function saved({ mined, undo, ...block }: Block): SavedBlock {
  return {
    ...block,
    mined: mined.map((one) => ({ ...savedTransaction(one), receipt: one.receipt })),
    undo: undo.map(([key, value]) => [key, String(value)]),
  }
}

function savedTransaction({ raw, signature, supports_others }: Transaction): SavedTransaction {
  return { raw, signature, ...(supports_others === undefined ? {} : { supports_others }) }
}

function restored({ mined, undo, ...block }: SavedBlock): Block {
  return {
    fork: -1,
    ...block,
    mined: mined.map((one) => ({ ...readBack(one), receipt: one.receipt })),
    undo: undo.map(([key, value]) => [key, BigInt(value)]),
  }
}

function readBack({ raw, signature, supports_others }: SavedTransaction): Transaction {
  const transaction = transactionOf(raw, signature)
  assert(transaction !== null, 'a saved transaction can be read back')
  return supports_others === undefined ? transaction : { ...transaction, supports_others }
}
