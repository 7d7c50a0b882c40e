import { assert } from '#kernel/assert.ts'
import { type AdmissionError, findAdmissionError } from './admission.ts'
import type { Asset } from './asset.ts'
import {
  type Block,
  blockId,
  type ExecutedTransaction,
  SOLIDIFIED_BEHIND,
  type Transaction,
} from './block.ts'
import { BlockStore } from './block_store.ts'
import { ChainState, type Reader } from './chain_state.ts'
import { execute, type TakeFault } from './execute.ts'

export type ChainSettings = {
  chain_id: number
  now: () => number
  block_interval_ms: number
  assets: readonly Asset[]
  takeFault: TakeFault
}

type Slots = { first_ms: number; step_ms: number; count: number }

export type MinedTransaction = { block: Block; index: number; mined: ExecutedTransaction }

/** Two bytes of the number identify a reference block, so it is among this many. */
const REFERENCE_SPAN = 65_536

/** The maximum depth of a fork; older blocks have no undo log. */
export const FORK_DEPTH_MAX = 1_000

/**
 * After a jump of the clock only the last two minutes get blocks, as if producers had missed the
 * earlier slots, because the deposit watcher reads every block.
 */
const CATCH_UP_BLOCKS_MAX = 40

/**
 * A chain of blocks with a transaction pool. There is no virtual machine: TRX, token balances,
 * energy and bandwidth are numbers in the chain state, and every block can be undone.
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

  /** The state after this block. */
  readerAt(number: number): Reader {
    if (number >= this.head_number) return this.state
    const newer = this.blocks.kept(number + 1, this.head_number).reverse()
    return this.state.before(newer.map(({ undo }) => undo))
  }

  /** The reason to refuse a transaction. With `unsigned`, the signature is not checked. */
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

  /** Spreads the blocks between the head and the clock, so chain time stays close to it. */
  mine(count: number): void {
    assert(Number.isInteger(count) && count > 0, 'count is a positive integer')
    const room_ms = this.now() - this.#head_ms
    const step_ms = Math.min(
      Math.max(1, Math.floor(room_ms / count)),
      this.#settings.block_interval_ms,
    )
    const last_ms = Math.max(this.now(), this.#head_ms + count * step_ms)
    this.#mineSlots({ first_ms: last_ms - (count - 1) * step_ms, step_ms, count })
  }

  /** Mines the blocks that are due. Runs before every read of the chain. */
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

  /** Appends a block without executing it, because the state already includes it. */
  adopt(block: Block): void {
    this.blocks.append(block)
    for (const { txid } of block.mined) this.#txids.set(txid, block.number)
  }

  /** Undoes the newest block and returns it. */
  pop(): Block {
    const block = this.head
    this.state.revert(block.undo)
    this.dropFrom(block.number)
    return block
  }

  /** Removes this block and all later ones without changing the state. */
  dropFrom(number: number): void {
    for (const { mined } of this.blocks.truncate(number)) {
      for (const { txid } of mined) this.#txids.delete(txid)
    }
  }

  /** The first block includes the pool. */
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

  #executed(transaction: Transaction, time_ms: number): ExecutedTransaction[] {
    const { takeFault } = this.#settings
    const receipt = this.state.attempt(() =>
      execute(this.state, transaction, { time_ms, assets: this.assets, takeFault }),
    )
    return receipt === null ? [] : [{ ...transaction, receipt }]
  }

  #blockByReference(low_bytes: number): Block | null {
    const behind = (this.head_number - low_bytes) & (REFERENCE_SPAN - 1)
    return this.blocks.get(this.head_number - behind)
  }
}
