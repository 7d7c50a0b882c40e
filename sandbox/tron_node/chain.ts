import { assert } from '#kernel/assert.ts'
import { type AdmissionError, findAdmissionError } from './admission.ts'
import type { Asset } from './asset.ts'
import { type Block, blockId, type Mined, SOLIDIFIED_BEHIND, type Transaction } from './block.ts'
import { BlockStore } from './block_store.ts'
import { ChainState, type Reader } from './chain_state.ts'
import { execute, type TakeRevert } from './execute.ts'

export type ChainSettings = {
  chain_id: number
  now: () => number
  block_interval_ms: number
  assets: readonly Asset[]
  takeRevert: TakeRevert
}

type Slots = { first_ms: number; step_ms: number; count: number }

export type MinedTransaction = { block: Block; index: number; mined: Mined }

/** A reference block is named by two bytes of its height, so it is among this many. */
const REFERENCE_SPAN = 65_536

/** How far back a fork may reach; deeper blocks forget how to be undone. */
export const FORK_DEPTH_MAX = 1_000

/**
 * After a leap of the clock the slots before the last ten minutes stay empty, as when producers
 * miss: whoever follows the chain reads every block.
 */
const CATCH_UP_BLOCKS_MAX = 200

/**
 * One chain of blocks with a pool before it. Execution is ours, not a virtual machine's: TRX, the
 * assets' balances, energy and bandwidth are numbers in a World, and blocks are undone exactly.
 */
export class Chain {
  readonly chain_id: number
  readonly assets: ReadonlyMap<string, Asset>
  readonly state = new ChainState()
  readonly blocks = new BlockStore()
  readonly #txids = new Map<string, number>()
  readonly #settings: ChainSettings
  pool: Transaction[] = []
  fork = 0

  constructor(settings: ChainSettings) {
    this.#settings = settings
    this.chain_id = settings.chain_id
    this.assets = new Map(settings.assets.map((asset) => [asset.address, asset]))
  }

  now(): number {
    return this.#settings.now()
  }

  get head_number(): number {
    return this.blocks.head_number
  }

  get head(): Block {
    const head = this.blocks.get(this.head_number)
    assert(head !== null, 'a chain has a head')
    return head
  }

  get #head_ms(): number {
    return this.blocks.timeOf(this.head_number)
  }

  solidNumber(head_number = this.head_number): number {
    return Math.max(0, head_number - SOLIDIFIED_BEHIND)
  }

  find(txid: string): MinedTransaction | null {
    const block = this.blocks.get(this.#txids.get(txid) ?? -1)
    const index = block?.mined.findIndex((one) => one.txid === txid) ?? -1
    const mined = block?.mined[index]
    return block === null || mined === undefined ? null : { block, index, mined }
  }

  transferCount(): number {
    return this.#txids.size + this.pool.length
  }

  isKnown(txid: string): boolean {
    return this.#txids.has(txid) || this.pool.some((one) => one.txid === txid)
  }

  /** The world as it was after this block. */
  readerAt(number: number): Reader {
    if (number >= this.head_number) return this.state
    const newer = this.blocks.kept(number + 1, this.head_number).reverse()
    return this.state.before(newer.map(({ undo }) => undo))
  }

  /** With `unsigned`, asks what may be asked before the owner has signed. */
  admissionError(transaction: Transaction, { unsigned = false } = {}): AdmissionError | null {
    return findAdmissionError(
      {
        head: this.head,
        state: this.state,
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
    const room_ms = this.now() - this.#head_ms
    const step_ms = Math.min(
      Math.max(1, Math.floor(room_ms / count)),
      this.#settings.block_interval_ms,
    )
    const last_ms = Math.max(this.now(), this.#head_ms + count * step_ms)
    this.#mineSlots({ first_ms: last_ms - (count - 1) * step_ms, step_ms, count })
  }

  /** Mines what is due by the clock. Every call that shows the chain asks this first. */
  catchUp(): void {
    const interval_ms = this.#settings.block_interval_ms
    const due = Math.floor((this.now() - this.#head_ms) / interval_ms)
    const missed = Math.max(0, due - CATCH_UP_BLOCKS_MAX)
    const first_ms = this.#head_ms + (missed + 1) * interval_ms
    if (due > 0) this.#mineSlots({ first_ms, step_ms: interval_ms, count: due - missed })
  }

  append(timestamp_ms: number, transactions: readonly Transaction[]): void {
    const mined = transactions.flatMap((transaction) => this.#executed(transaction, timestamp_ms))
    const undo = this.state.takeUndo()
    const { fork } = this
    if (mined.length === 0 && undo.length === 0) {
      this.blocks.appendEmpty({ timestamp_ms, step_ms: 0, count: 1, fork })
    } else {
      const parent_id = this.blocks.idOf(this.head_number)
      const place = { number: this.head_number + 1, parent_id, timestamp_ms }
      const txids = mined.map(({ txid }) => txid)
      this.adopt({ ...place, id: blockId(place, txids, fork), mined, undo, fork })
    }
    this.blocks.forgetUndo(this.head_number - FORK_DEPTH_MAX)
  }

  /** Takes a block as it is, without executing it: the world already shows it. */
  adopt(block: Block): void {
    this.blocks.append(block)
    for (const { txid } of block.mined) this.#txids.set(txid, block.number)
  }

  /** Undoes the newest block and answers it. */
  pop(): Block {
    const block = this.head
    this.state.revert(block.undo)
    this.dropFrom(block.number)
    return block
  }

  /** Takes this block and all above it away, and leaves the world as it is. */
  dropFrom(number: number): void {
    for (const { mined } of this.blocks.truncate(number)) {
      for (const { txid } of mined) this.#txids.delete(txid)
    }
  }

  /** The first block takes what is pooled. */
  #mineSlots({ first_ms, step_ms, count }: Slots): void {
    const before_ms = this.#head_ms
    const due = this.pool.filter(({ content }) => content.expiration_ms > before_ms)
    this.pool = []
    this.append(first_ms, due)
    if (count === 1) return
    const rest = { timestamp_ms: first_ms + step_ms, step_ms, count: count - 1, fork: this.fork }
    this.blocks.appendEmpty(rest)
    this.blocks.forgetUndo(this.head_number - FORK_DEPTH_MAX)
  }

  #executed(transaction: Transaction, time_ms: number): Mined[] {
    const { takeRevert } = this.#settings
    const receipt = this.state.attempt(() =>
      execute(this.state, transaction, { time_ms, assets: this.assets, takeRevert }),
    )
    return receipt === null ? [] : [{ ...transaction, receipt }]
  }

  #blockByReference(low_bytes: number): Block | null {
    const behind = (this.head_number - low_bytes) & (REFERENCE_SPAN - 1)
    return this.blocks.get(this.head_number - behind)
  }
}
