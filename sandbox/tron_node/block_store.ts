import { assert } from '#kernel/assert.ts'
import { type Block, emptyBlockId } from './block.ts'

/** Consecutive empty blocks at a constant interval. Their IDs are computed on demand. */
export type EmptyRun = {
  /** The number and time of the first block. */
  number: number
  timestamp_ms: number
  step_ms: number
  count: number
  fork: number
}
type StoredRun = EmptyRun & {
  /** The ID of the last block with content before the run. */
  base_id: string
}

const NO_ID = '0'.repeat(64)

/**
 * The blocks of a chain by number. Only blocks with content are stored. Empty blocks, almost all of
 * them, are runs of a few numbers each, so an idle chain costs nothing.
 */
export class BlockStore {
  readonly #kept: Block[] = []
  readonly #runs: StoredRun[] = []
  #undoable_from = 0
  /** The first block that changed since the last save. */
  #unsaved_from = 0
  head_number = -1
  /** The number of computed IDs of empty blocks, for tests. */
  hashed_count = 0

  get kept_count(): number {
    return this.#kept.length
  }

  get run_count(): number {
    return this.#runs.length
  }

  get(number: number): Block | null {
    const kept = lastUpTo(this.#kept, number)
    if (kept?.number === number) return kept
    const run = this.#runAt(number)
    if (run === null) return null
    const { fork } = run
    const [id, parent_id] = [this.idOf(number), this.idOf(number - 1)]
    return { number, id, parent_id, timestamp_ms: timeIn(run, number), mined: [], undo: [], fork }
  }

  /** Zeros if there is no such block. */
  idOf(number: number): string {
    const kept = lastUpTo(this.#kept, number)
    if (kept?.number === number) return kept.id
    const run = this.#runAt(number)
    if (run === null) return NO_ID
    this.hashed_count += 1
    return emptyBlockId({ ...run, number, timestamp_ms: timeIn(run, number) })
  }

  /** Cheaper than get(), which computes the ID. */
  timeOf(number: number): number {
    const run = this.#runAt(number)
    const block = run === null ? lastUpTo(this.#kept, number) : null
    assert(run !== null || block?.number === number, 'the block is on the chain')
    return run === null ? (block?.timestamp_ms ?? 0) : timeIn(run, number)
  }

  /** The blocks with content in a range, in order. */
  kept(from: number, to: number): Block[] {
    return this.#kept.slice(indexOf(this.#kept, from), indexOf(this.#kept, to + 1))
  }

  append(block: Block): void {
    assert(block.number > this.head_number, 'blocks are appended in order')
    this.#kept.push(block)
    this.#grow(block.number, 1)
  }

  /** Extends the newest run if the interval is the same. */
  appendEmpty(run: Omit<EmptyRun, 'number'>): void {
    this.adoptRun({ number: this.head_number + 1, ...run })
  }

  adoptRun(run: EmptyRun): void {
    assert(run.number > this.head_number && run.count > 0, 'blocks are appended in order')
    const newest = this.#runAt(run.number - 1)
    const step_ms = newest === null ? null : commonStep(newest, run)
    if (newest === null || step_ms === null) {
      this.#runs.push({ ...run, base_id: this.#kept.at(-1)?.id ?? NO_ID })
    } else {
      newest.count += run.count
      newest.step_ms = step_ms
    }
    this.#grow(run.number, run.count)
  }

  /** Removes the newest block and returns it. */
  pop(): Block {
    const block = this.get(this.head_number)
    assert(block !== null, 'a chain has a head')
    this.truncate(block.number)
    return block
  }

  /** Removes this block and all later ones; returns those with content. */
  truncate(number: number): Block[] {
    const dropped = this.#kept.splice(indexOf(this.#kept, number))
    const run = this.#runAt(number)
    this.#runs.splice(indexOf(this.#runs, number))
    if (run !== null && run.number < number) run.count = number - run.number
    this.#undoable_from = Math.min(this.#undoable_from, this.#kept.length)
    this.#unsaved_from = Math.min(this.#unsaved_from, number)
    this.head_number = Math.min(this.head_number, number - 1)
    return dropped
  }

  /** Drops the undo logs of blocks up to this number. */
  forgetUndo(number: number): void {
    for (;;) {
      const block = this.#kept[this.#undoable_from]
      if (block === undefined || block.number > number) return
      block.undo = []
      this.#undoable_from += 1
    }
  }

  /** All blocks and runs from this number on, in order. */
  since(from: number): (Block | EmptyRun)[] {
    const cut = this.#runAt(from)
    const whole = this.#runs.slice(indexOf(this.#runs, from))
    const runs = cut === null || cut.number === from ? whole : [partOf(cut, from), ...whole]
    const shown = runs.map(({ base_id: _, ...run }) => run)
    return [...this.kept(from, this.head_number), ...shown].sort((a, b) => a.number - b.number)
  }

  /** The first block that changed since the last call. */
  takeUnsaved(): number {
    const from = this.#unsaved_from
    this.#unsaved_from = this.head_number + 1
    return from
  }

  #grow(number: number, count: number): void {
    this.#unsaved_from = Math.min(this.#unsaved_from, number)
    this.head_number = number + count - 1
  }

  #runAt(number: number): StoredRun | null {
    const run = lastUpTo(this.#runs, number)
    return run !== undefined && number < run.number + run.count ? run : null
  }
}

const timeIn = ({ number: first, timestamp_ms, step_ms }: EmptyRun, number: number): number =>
  timestamp_ms + (number - first) * step_ms

function partOf(run: StoredRun, from: number): StoredRun {
  const count = run.number + run.count - from
  return { ...run, number: from, timestamp_ms: timeIn(run, from), count }
}

/** The interval at which the next run continues the newest one, or null. */
function commonStep(newest: EmptyRun, next: EmptyRun): number | null {
  const end = newest.number + newest.count - 1
  const step_ms = next.timestamp_ms - timeIn(newest, end)
  const isSame =
    newest.fork === next.fork &&
    (newest.count === 1 || newest.step_ms === step_ms) &&
    (next.count === 1 || next.step_ms === step_ms)
  return isSame ? step_ms : null
}

/** The index of the first item with at least this number. */
function indexOf(list: readonly { number: number }[], number: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}

function lastUpTo<Item extends { number: number }>(
  list: readonly Item[],
  number: number,
): Item | undefined {
  return list[indexOf(list, number + 1) - 1]
}
