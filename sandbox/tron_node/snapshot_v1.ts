import { type Block, blockId } from './block.ts'
import { type Chain, FORK_DEPTH_MAX } from './chain.ts'
import { restored, type SavedBlock, type SavedTransaction } from './saved_block.ts'

/** The old snapshot format, in which every block ID was a hash of the previous block. */
export type SnapshotV1 = {
  version: 1
  chain_id: number
  fork: number
  /** The chain state; saved files name it so. */
  world: [string, string][]
  pool: SavedTransaction[]
  blocks: (SavedBlock | { fork: number; step_ms: number; count: number })[]
}

/**
 * The newest blocks keep their IDs, because the service has stored the ID of a final one. Older
 * empty blocks become runs.
 */
export function adoptV1(chain: Chain, { blocks: saved }: SnapshotV1): void {
  const blocks = blocksIn(saved)
  const head_number = blocks.at(-1)?.number ?? -1
  for (const block of blocks) {
    const { number, timestamp_ms, mined, undo, fork } = block
    const isEmpty = mined.length === 0 && undo.length === 0
    if (!isEmpty || number > head_number - FORK_DEPTH_MAX) chain.adopt(block)
    else chain.blocks.adoptRun({ number, timestamp_ms, step_ms: 0, count: 1, fork })
  }
}

function blocksIn(saved: SnapshotV1['blocks']): Block[] {
  const blocks: Block[] = []
  for (const item of saved) {
    if (!('count' in item)) blocks.push(restored(item))
    else
      for (let left = item.count; left > 0; left -= 1) blocks.push(blockAfter(blocks.at(-1), item))
  }
  return blocks
}

function blockAfter(before: Block | undefined, run: { fork: number; step_ms: number }): Block {
  const { fork, step_ms } = run
  const place = {
    number: (before?.number ?? -1) + 1,
    parent_id: before?.id ?? '0'.repeat(64),
    timestamp_ms: (before?.timestamp_ms ?? 0) + step_ms,
  }
  return { ...place, id: blockId(place, [], fork), mined: [], undo: [], fork }
}
