import type { Fault } from '#sandbox/tron_node/faults.ts'
import type { Reorg } from '#sandbox/tron_node/fork.ts'
import { startTronNode } from '#sandbox/tron_node.ts'
import { serveCommands } from './child_commands.ts'

/** The sandbox's chain node as a process of its own, so it outlives the nodes of Florin. */
let offset_ms = 0
const node = await startTronNode({
  now: () => Date.now() + offset_ms,
  block_interval_ms: 3_000,
  chain_id: Number(process.env['CHAIN_ID']),
})

const FINAL_BLOCKS = 20

serveCommands({
  url: () => node.url,
  endow: ({ hot_wallet, float_micros }: { hot_wallet: string; float_micros: bigint }) => {
    node.fundTrx({ to: hot_wallet, amount_sun: 1_000_000_000_000n })
    node.transferUsdt({ to: hot_wallet, amount_micros: float_micros })
    node.mine(FINAL_BLOCKS)
  },
  transfer: (transfer: { to: string; amount_micros: bigint; contract?: string }) => {
    const txid = node.transferUsdt(transfer)
    node.mine()
    return txid
  },
  mine: (count: number) => void node.mine(count),
  /** Removes the transfer if its block is not final; returns whether it did. */
  removeTransfer: (txid: string) => {
    const block = node.blockOf(txid)
    if (block === null || block.number <= node.finalized().number) return false
    node.reorg({ depth: node.head().number - block.number + 1, keep: { all_but: [txid] } })
    return true
  },
  /** Replaces blocks that are not final yet. */
  forkOpenBlocks: ({ depth, keep = 'pool' }: Reorg) => {
    const open = node.head().number - node.finalized().number
    if (open > 0) node.reorg({ depth: Math.min(depth, open), keep })
  },
  isFinal: (txid: string) => {
    const block = node.blockOf(txid)
    return block !== null && block.number <= node.finalized().number
  },
  fault: (fault: Fault) => void node.fault(fault),
  clearFaults: () => node.clearFaults(),
  offset: (ms: number) => {
    offset_ms = ms
  },
})
