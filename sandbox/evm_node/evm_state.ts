import type { Hex } from 'viem'

/** The chain's state as integers by key, so it can be saved as JSON. */
export class EvmState {
  readonly #values: Map<string, bigint>
  #changed = new Set<string>()

  constructor(entries: readonly (readonly [string, string])[] = []) {
    this.#values = new Map(entries.map(([key, value]) => [key, BigInt(value)]))
  }

  coinsOf = (owner: Hex) => this.#get(`coins:${owner}`)
  weiOf = (owner: Hex) => this.#get(`wei:${owner}`)
  nonceOf = (owner: Hex) => this.#get(`nonce:${owner}`)
  isUsed = (owner: Hex, nonce: Hex) => this.#get(`used:${owner}:${nonce}`) === 1n

  addCoins(owner: Hex, change: bigint): void {
    this.#set(`coins:${owner}`, this.coinsOf(owner) + change)
  }

  addWei(owner: Hex, change: bigint): void {
    this.#set(`wei:${owner}`, this.weiOf(owner) + change)
  }

  incrementNonce(owner: Hex): void {
    this.#set(`nonce:${owner}`, this.nonceOf(owner) + 1n)
  }

  useAuthorization(owner: Hex, nonce: Hex): void {
    this.#set(`used:${owner}:${nonce}`, 1n)
  }

  toJson(): [string, string][] {
    return [...this.#values].map(([key, value]) => [key, value.toString()])
  }

  /** The values changed since the last call. */
  takeChanges(): [string, string][] {
    const changed = [...this.#changed]
    this.#changed = new Set()
    return changed.map((key) => [key, this.#get(key).toString()])
  }

  #get(key: string): bigint {
    return this.#values.get(key.toLowerCase()) ?? 0n
  }

  #set(key: string, value: bigint): void {
    this.#values.set(key.toLowerCase(), value)
    this.#changed.add(key.toLowerCase())
  }
}
