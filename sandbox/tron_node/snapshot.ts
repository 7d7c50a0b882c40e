import { assert } from '#kernel/assert.ts'
import type { EmptyRun } from './block_store.ts'
import type { Chain } from './chain.ts'
import {
  readBack,
  restored,
  type SavedBlock,
  type SavedTransaction,
  savedBlock,
  savedTransaction,
} from './saved_block.ts'
import { adoptV1, type SnapshotV1 } from './snapshot_v1.ts'

/** The changes since the last save, as JSON. */
export type TronChange = {
  fork: number
  /** The chain state; saved files name it so. */
  world: [string, string][]
  pool: SavedTransaction[]
  /** `blocks` replace all blocks from this number on. */
  from: number
  blocks: (SavedBlock | EmptyRun)[]
}

/** The whole chain as one change. */
export type TronSnapshot = TronChange & { version: 2; chain_id: number }
export type AnySnapshot = TronSnapshot | SnapshotV1

export function snapshotOf(chain: Chain): TronSnapshot {
  const { chain_id } = chain
  return { version: 2, chain_id, ...changeOf(chain, 0, chain.state.entries()) }
}

/** The cost does not depend on the length of the chain. */
export function takeChange(chain: Chain): TronChange {
  return changeOf(chain, chain.blocks.takeUnsaved(), chain.state.takeChanges())
}

function changeOf(chain: Chain, from: number, state: readonly [string, bigint][]): TronChange {
  return {
    fork: chain.fork,
    world: state.map(([key, value]) => [key, String(value)]),
    pool: chain.pool.map(savedTransaction),
    from,
    blocks: chain.blocks.since(from).map((item) => ('count' in item ? item : savedBlock(item))),
  }
}

/** Restores a snapshot and later changes into an empty chain. */
export function restoreInto(
  chain: Chain,
  snapshot: AnySnapshot,
  changes: readonly TronChange[] = [],
): void {
  const { version } = snapshot
  assert(version === 1 || version === 2, 'the snapshot version is supported')
  assert(snapshot.chain_id === chain.chain_id, 'the snapshot is of this chain')
  assert(chain.head_number === -1, 'the chain is empty')
  if (snapshot.version === 1) adoptV1(chain, snapshot)
  else adoptBlocks(chain, snapshot)
  adoptState(chain, snapshot)
  for (const change of changes) {
    chain.dropFrom(change.from)
    adoptBlocks(chain, change)
    adoptState(chain, change)
  }
}

function adoptBlocks(chain: Chain, { blocks }: TronChange): void {
  for (const item of blocks) {
    if ('count' in item) chain.blocks.adoptRun(item)
    else chain.adopt(restored(item))
  }
}

function adoptState(chain: Chain, saved: Pick<TronChange, 'world' | 'pool' | 'fork'>): void {
  for (const [key, value] of saved.world) chain.state.set(key, BigInt(value))
  chain.state.takeUndo()
  chain.fork = saved.fork
  chain.pool = saved.pool.map(readBack)
}
