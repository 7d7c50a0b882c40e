/**
 * The chain's state: one integer per key. Every change is recorded with its previous value, so a
 * fork can undo blocks and a solidified reader can see older state.
 */
export type Undo = readonly (readonly [key: string, before: bigint])[]
export type Reader = { get(key: string): bigint }

/** Addresses are 40 lowercase hex digits in this folder. */
export const keys = {
  exists: (address: string) => `exists:${address}`,
  trx: (address: string) => `trx:${address}`,
  asset: (contract: string, address: string) => `asset:${contract}:${address}`,
  supply: (contract: string) => `supply:${contract}`,
  bandwidth_used: (address: string) => `bandwidth_used:${address}`,
  bandwidth_at: (address: string) => `bandwidth_at:${address}`,
  energy_used: (address: string) => `energy_used:${address}`,
  energy_at: (address: string) => `energy_at:${address}`,
  staked: (address: string) => `staked:${address}`,
  lent: (address: string) => `lent:${address}`,
  borrowed: (address: string) => `borrowed:${address}`,
}

export class ChainState implements Reader {
  readonly #values = new Map<string, bigint>()
  #changed = new Set<string>()
  #undo: [string, bigint][] = []

  get(key: string): bigint {
    return this.#values.get(key) ?? 0n
  }

  set(key: string, value: bigint): void {
    this.#undo.push([key, this.get(key)])
    this.#write(key, value)
  }

  add(key: string, change: bigint): void {
    this.set(key, this.get(key) + change)
  }

  /** Undoes all changes if the function returns null. */
  attempt<Result>(work: () => Result | null): Result | null {
    const start = this.#undo.length
    const result = work()
    if (result === null) this.revert(this.#undo.splice(start))
    return result
  }

  /** The undo log since the last call, for the block that made the changes. */
  takeUndo(): Undo {
    const undo = this.#undo
    this.#undo = []
    return undo
  }

  revert(undo: Undo): void {
    for (const [key, before] of undo.toReversed()) this.#write(key, before)
  }

  /** A view of the state before these blocks, newest first. */
  before(undos: Iterable<Undo>): Reader {
    const past = new Map<string, bigint>()
    for (const undo of undos) {
      for (const [key, before] of undo.toReversed()) past.set(key, before)
    }
    return { get: (key) => past.get(key) ?? this.get(key) }
  }

  entries(): [string, bigint][] {
    return [...this.#values]
  }

  /** The values changed since the last call. */
  takeChanges(): [string, bigint][] {
    const changed = [...this.#changed]
    this.#changed = new Set()
    return changed.map((key) => [key, this.get(key)])
  }

  #write(key: string, value: bigint): void {
    this.#changed.add(key)
    if (value === 0n) this.#values.delete(key)
    else this.#values.set(key, value)
  }
}
