import type { AddressInfo } from 'node:net'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { bytesFromTronAddress, tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import type { Asset } from '#sandbox/tron_node/asset.ts'
import { Chain } from '#sandbox/tron_node/chain.ts'
import { keys } from '#sandbox/tron_node/chain_state.ts'
import { Exchange } from '#sandbox/tron_node/exchange.ts'
import { type Fault, Faults } from '#sandbox/tron_node/faults.ts'
import { type Reorg, type ReorgOutcome, reorganize } from '#sandbox/tron_node/fork.ts'
import { createHttpServer } from '#sandbox/tron_node/http_server.ts'
import {
  type AnySnapshot,
  restoreInto,
  snapshotOf,
  type TronChange,
  type TronSnapshot,
  takeChange,
} from '#sandbox/tron_node/snapshot.ts'

/**
 * A simulated TRON network: blocks, forks, fees and finality by TRON's rules, served through its
 * HTTP API and JSON-RPC on loopback. Stock clients work unchanged. It executes transfers of TRX and
 * of the configured tokens, and no other contracts.
 */
export type TronNodeOptions = {
  now: () => number
  port?: number
  /** The interval of blocks by `now`; without it only mine() makes blocks. */
  block_interval_ms?: number
  chain_id?: number
  assets?: readonly AssetOptions[]
  snapshot?: AnySnapshot
  /** The changes saved after the snapshot, in order. */
  changes?: readonly TronChange[]
  /** Saves a change; called by save() and before a block is shown as final. */
  persist?(change: TronChange, snapshot: () => TronSnapshot): void
}

type AssetOptions = { address: string; symbol?: string; name?: string; decimals?: number }
type BlockHeader = { number: number; id: string; timestamp_ms: number }
type UsdtTransfer = {
  to: string
  amount_micros: bigint
  from?: string
  /** For deposits of another token. */
  contract?: string
}

export type TronNode = {
  readonly url: string
  /** The default sender, with an unlimited balance. */
  readonly exchange: string
  mine(count?: number): BlockHeader
  transferUsdt(transfer: UsdtTransfer): string
  fundTrx(gift: { to: string; amount_sun: bigint }): string
  /** Adds energy as if this much TRX had been staked. */
  fundStake(gift: { to: string; amount_sun: bigint }): void
  balanceOf(address: string, contract?: string): bigint
  trxOf(address: string): bigint
  reorg(reorg: Reorg): ReorgOutcome
  /** Returns a function that removes the fault. */
  fault(fault: Fault): () => void
  clearFaults(): void
  /** The block of a transfer; null if it is pending or unknown. */
  blockOf(txid: string): (BlockHeader & { ok: boolean }) | null
  /** The number of mined and pending transfers; a change means there is something to save. */
  transferCount(): number
  head(): BlockHeader
  finalized(): BlockHeader
  snapshot(): TronSnapshot
  restore(snapshot: AnySnapshot): void
  /** Persists the changes since the last save. */
  save(): void
  stop(): Promise<void>
}

export const USDT_ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'

/** A token with the same name and symbol at another address; it must not be credited. */
export const FAKE_USDT_ADDRESS = tronAddressFromBytes(
  sha256(utf8ToBytes('florin sandbox fake USDT')).slice(12),
)

/** TRON's mainnet. */
const CHAIN_ID = 728_126_428
const BLOCK_INTERVAL_MS = 3_000

/** Blocks at the start, so that there is a solidified one. */
const BLOCKS_AT_START = 20

export async function startTronNode(options: TronNodeOptions): Promise<TronNode> {
  const faults = new Faults()
  let chain = newChain(options, faults)
  if (options.snapshot === undefined) startChain(chain, options.now())
  else restoreInto(chain, options.snapshot, options.changes)
  let saved_number = -1
  const save = () => {
    options.persist?.(takeChange(chain), () => snapshotOf(chain))
    saved_number = chain.head_number
  }
  const exchange = new Exchange(() => chain)
  const isAutomatic = options.block_interval_ms !== undefined
  const current = (): Chain => {
    if (isAutomatic) chain.catchUp()
    // The service relies on final blocks, so a crash must not lose them.
    if (options.persist !== undefined && chain.solidNumber() > saved_number) save()
    return chain
  }
  const server = createHttpServer({ chain: () => chain, faults, beforeEach: current })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    exchange: exchange.address,
    ...controls(current, exchange, faults),
    snapshot: () => snapshotOf(current()),
    restore: (snapshot) => {
      const restored = newChain(options, faults)
      restoreInto(restored, snapshot)
      chain = restored
      saved_number = -1
    },
    save: () => {
      current()
      save()
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Controls = Omit<TronNode, 'url' | 'exchange' | 'snapshot' | 'restore' | 'save' | 'stop'>

function controls(current: () => Chain, exchange: Exchange, faults: Faults): Controls {
  return {
    mine: (count = 1) => {
      current().mine(count)
      return headerOf(current(), current().head_number)
    },
    transferUsdt: ({ to, amount_micros, from, contract = USDT_ADDRESS }) => {
      current()
      return exchange.send({
        asset: hexFrom(contract),
        to: hexFrom(to),
        amount: amount_micros,
        ...(from === undefined ? {} : { from: hexFrom(from) }),
      })
    },
    fundTrx: ({ to, amount_sun }) => {
      current()
      return exchange.sendTrx(hexFrom(to), amount_sun)
    },
    fundStake: ({ to, amount_sun }) => {
      // Blocks never write this key, so a fork does not undo it.
      const { state } = current()
      state.add(keys.staked(hexFrom(to)), amount_sun)
      state.takeUndo()
    },
    balanceOf: (address, contract = USDT_ADDRESS) =>
      current().state.get(keys.asset(hexFrom(contract), hexFrom(address))),
    trxOf: (address) => current().state.get(keys.trx(hexFrom(address))),
    reorg: (reorg) => reorganize(current(), reorg, () => exchange.unrelatedTransfer()),
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    blockOf: (txid) => {
      const found = current().find(txid)
      if (found === null) return null
      const { result } = found.mined.receipt
      const ok = result === null || result === 'SUCCESS'
      return { ...headerOf(current(), found.block.number), ok }
    },
    transferCount: () => current().transferCount(),
    head: () => headerOf(current(), current().head_number),
    finalized: () => headerOf(current(), current().solidNumber()),
  }
}

function newChain(options: TronNodeOptions, faults: Faults): Chain {
  const assets = options.assets ?? [{ address: USDT_ADDRESS }, { address: FAKE_USDT_ADDRESS }]
  return new Chain({
    chain_id: options.chain_id ?? CHAIN_ID,
    now: options.now,
    block_interval_ms: options.block_interval_ms ?? BLOCK_INTERVAL_MS,
    assets: assets.map(assetOf),
    takeFault: (kind, { to, txid }) =>
      faults.take(kind, (fault) =>
        'txid' in fault ? fault.txid === txid : hexFrom(fault.to) === to,
      ) !== null,
  })
}

function startChain(chain: Chain, now_ms: number): void {
  Exchange.fundAtGenesis(chain)
  const interval_ms = BLOCK_INTERVAL_MS
  for (let left = BLOCKS_AT_START; left >= 0; left -= 1)
    chain.append(now_ms - left * interval_ms, [])
}

function assetOf({
  address,
  symbol = 'USDT',
  name = 'Tether USD',
  decimals = 6,
}: AssetOptions): Asset {
  return { address: hexFrom(address), symbol, name, decimals }
}

function hexFrom(address: string): string {
  const bytes = bytesFromTronAddress(address)
  assert(bytes !== null, `${address} is a TRON address`)
  return bytesToHex(bytes)
}

function headerOf(chain: Chain, number: number): BlockHeader {
  const block = chain.blocks.get(number)
  assert(block !== null, 'the block is on the chain')
  return { number, id: block.id, timestamp_ms: block.timestamp_ms }
}
