import type { Fault } from '#sandbox/tron_node/faults.ts'
import type { Reorg } from '#sandbox/tron_node/fork.ts'
import { startChild } from './child.ts'

export const CHAIN_ID = 728_126_428

/** The driver's handle of the chain process. */
export type Chain = {
  url: string
  endow(gift: { hot_wallet: string; float_micros: bigint }): Promise<void>
  /** Sends USDT and mines its block; returns the txid. */
  transfer(transfer: { to: string; amount_micros: bigint; contract?: string }): Promise<string>
  mine(count: number): Promise<void>
  removeTransfer(txid: string): Promise<boolean>
  /** Replaces blocks that are not final yet. */
  forkOpenBlocks(reorg: Reorg): Promise<void>
  isFinal(txid: string): Promise<boolean>
  fault(fault: Fault): Promise<void>
  clearFaults(): Promise<void>
  /** Moves the chain's clock to that of the service. */
  offset(ms: number): Promise<void>
  stop(): Promise<void>
}

export async function startChain(log_file: string): Promise<Chain> {
  const child = startChild(new URL('./chain_process.js', import.meta.url), {
    env: { CHAIN_ID: String(CHAIN_ID) },
    log_file,
  })
  return {
    url: await child.call<string>('url'),
    endow: (gift) => child.call('endow', gift),
    transfer: (transfer) => child.call('transfer', transfer),
    mine: (count) => child.call('mine', count),
    removeTransfer: (txid) => child.call('removeTransfer', txid),
    forkOpenBlocks: (reorg) => child.call('forkOpenBlocks', reorg),
    isFinal: (txid) => child.call('isFinal', txid),
    fault: (fault) => child.call('fault', fault),
    clearFaults: () => child.call('clearFaults'),
    offset: (ms) => child.call('offset', ms),
    stop: async () => {
      child.kill('SIGKILL')
      await child.ended
    },
  }
}
