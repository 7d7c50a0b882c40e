import { assert } from '#kernel/assert.ts'
import { type Refusal, refusalOf } from './admission.ts'
import type { Asset } from './asset.ts'
import { type Block, blockId, type Mined, SOLIDIFIED_BEHIND, type Transaction } from './block.ts'
import { execute, type TakeRevert } from './execute.ts'
import { type Reader, World } from './world.ts'

export type ChainSettings = {
  chain_id: number
  now: () => number
  block_interval_ms: number
  assets: readonly Asset[]
  takeRevert: TakeRevert
}

export type Found = { block: Block; index: number; mined: Mined }

/** A reference block is named by two bytes of its height, so it is among this many. */
const REFERENCE_SPAN = 65_536

/** How far back a fork may reach; deeper blocks forget how to be undone. */
export const FORK_DEPTH_MAX = 1_000

/**
 * After a leap of the clock the slots before the last ten minutes stay empty, as when producers
 * miss: each block is kept and audited, and a day's leap must cost neither.
 */
const CATCH_UP_BLOCKS_MAX = 200

/**
 * One chain of blocks with a pool before it. Execution is ours, not a virtual machine's: TRX, the
 * assets' balances, energy and bandwidth are numbers in a World, and blocks are undone exactly.
 */
export class Chain {
  readonly chain_id: number
  readonly assets: ReadonlyMap<string, Asset>
  readonly world = new World()
  readonly blocks = new Map<number, Block>()
  readonly #txids = new Map<string, number>()
  readonly #settings: ChainSettings
  pool: Transaction[] = []
  fork = 0
  head_number = -1

  constructor(settings: ChainSettings) {
    this.#settings = settings
    this.chain_id = settings.chain_id
    this.assets = new Map(settings.assets.map((asset) => [asset.address, asset]))
  }

  now(): number {
    return this.#settings.now()
  }

  get head(): Block {
    const head = this.blocks.get(this.head_number)
    assert(head !== undefined, 'a chain has a head')
    return head
  }

  solidNumber(head_number = this.head_number): number {
    return Math.max(0, head_number - SOLIDIFIED_BEHIND)
  }

  find(txid: string): Found | null {
    const block = this.blocks.get(this.#txids.get(txid) ?? -1)
    const index = block?.mined.findIndex((one) => one.txid === txid) ?? -1
    const mined = block?.mined[index]
    return block === undefined || mined === undefined ? null : { block, index, mined }
  }

  transferCount(): number {
    return this.#txids.size + this.pool.length
  }

  isKnown(txid: string): boolean {
    return this.#txids.has(txid) || this.pool.some((one) => one.txid === txid)
  }

  /** The world as it was after this block. */
  readerAt(number: number): Reader {
    if (number >= this.head_number) return this.world
    const undos = []
    for (let at = this.head_number; at > number; at -= 1)
      undos.push(this.blocks.get(at)?.undo ?? [])
    return this.world.before(undos)
  }

  /** With `unsigned`, asks what may be asked before the owner has signed. */
  refusal(transaction: Transaction, { unsigned = false } = {}): Refusal | null {
    return refusalOf(
      {
        head: this.head,
        world: this.world,
        assets: this.assets,
        isKnown: (txid) => this.isKnown(txid),
        blockByReference: (low_bytes) => this.#blockByReference(low_bytes),
        unsigned,
      },
      transaction,
    )
  }

  /** Blocks on demand fit between the head and the clock, so chain time never runs far ahead. */
  mine(count: number): void {
    assert(Number.isInteger(count) && count > 0, 'some blocks are mined')
    const room_ms = this.now() - this.head.timestamp_ms
    const step_ms = Math.min(
      Math.max(1, Math.floor(room_ms / count)),
      this.#settings.block_interval_ms,
    )
    const last_ms = Math.max(this.now(), this.head.timestamp_ms + count * step_ms)
    for (let left = count - 1; left >= 0; left -= 1) this.#minePool(last_ms - left * step_ms)
  }

  /** Mines what is due by the clock. Every call that shows the chain asks this first. */
  catchUp(): void {
    const interval_ms = this.#settings.block_interval_ms
    const due = Math.floor((this.now() - this.head.timestamp_ms) / interval_ms)
    const missed = Math.max(0, due - CATCH_UP_BLOCKS_MAX)
    const start_ms = this.head.timestamp_ms
    for (let slot = missed + 1; slot <= due; slot += 1)
      this.#minePool(start_ms + slot * interval_ms)
  }

  append(timestamp_ms: number, transactions: readonly Transaction[]): Block {
    const mined = transactions.flatMap((transaction) => this.#executed(transaction, timestamp_ms))
    const number = this.head_number + 1
    const parent_id = this.blocks.get(this.head_number)?.id ?? '0'.repeat(64)
    const txids = mined.map(({ txid }) => txid)
    const id = blockId({ number, parent_id, timestamp_ms }, txids, this.fork)
    const { fork } = this
    const block = { number, id, parent_id, timestamp_ms, mined, undo: this.world.takeUndo(), fork }
    this.adopt(block)
    this.#forget(number)
    return block
  }

  /** Takes a block as it is, without executing it: the world already shows it. */
  adopt(block: Block): void {
    this.blocks.set(block.number, block)
    this.head_number = block.number
    for (const { txid } of block.mined) this.#txids.set(txid, block.number)
  }

  /** Undoes the newest block and answers it. */
  pop(): Block {
    const block = this.head
    this.world.revert(block.undo)
    for (const { txid } of block.mined) this.#txids.delete(txid)
    this.blocks.delete(block.number)
    this.head_number -= 1
    return block
  }

  #minePool(timestamp_ms: number): void {
    const due = this.pool
    this.pool = []
    this.append(
      timestamp_ms,
      due.filter(({ content }) => content.expiration_ms > this.head.timestamp_ms),
    )
  }

  #executed(transaction: Transaction, time_ms: number): Mined[] {
    const { takeRevert } = this.#settings
    const receipt = this.world.attempt(() =>
      execute(this.world, transaction, { time_ms, assets: this.assets, takeRevert }),
    )
    return receipt === null ? [] : [{ ...transaction, receipt }]
  }

  /** Blocks with transfers stay for ever; an empty one goes once nothing can refer to it. */
  #forget(head_number: number): void {
    const undoable = this.blocks.get(head_number - FORK_DEPTH_MAX)
    if (undoable !== undefined) undoable.undo = []
    const old = this.blocks.get(head_number - REFERENCE_SPAN)
    if (old !== undefined && old.number > 0 && old.mined.length === 0)
      this.blocks.delete(old.number)
  }

  #blockByReference(low_bytes: number): Block | null {
    const behind = (this.head_number - low_bytes) & (REFERENCE_SPAN - 1)
    return this.blocks.get(this.head_number - behind) ?? null
  }
}
