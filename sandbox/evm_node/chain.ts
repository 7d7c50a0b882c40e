import {
  type Hex,
  isAddressEqual,
  keccak256,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  stringToHex,
  type TransactionSerializable,
} from 'viem'
import { CHAIN_ID, USDC } from '#rails/x402/requirement.ts'
import { RpcError, SERVER_ERROR } from '#sandbox/tron_node/rpc_error.ts'
import { callCoin, type Log, Reverted } from './coin.ts'
import { EvmState } from './evm_state.ts'

/** Typical fees on Base. */
export const BASE_FEE_WEI = 10_000_000n
export const TIP_WEI = 1_000_000n
/** Gas of transferWithAuthorization on the real chain, and of a revert. */
export const CALL_GAS = 86_000n
const REVERT_GAS = 34_000n
const TRANSFER_GAS = 21_000n

export type Transaction = { hash: Hex; raw: Hex; from: Hex; content: TransactionSerializable }

export type MinedTransaction = Transaction & {
  number: number
  ok: boolean
  gas_used: bigint
  price_wei: bigint
  logs: Log[]
}

export type Block = {
  number: number
  hash: Hex
  parent: Hex
  time_s: number
  mined: MinedTransaction | null
}

/** The changes since the last save. */
export type EvmChange = {
  /** The chain state; saved files name it so. */
  world: [string, string][]
  blocks: { time_s: number; raw: Hex | null; receipt: SavedReceipt | null }[]
}

/** The whole chain as one change. */
export type EvmSnapshot = EvmChange & { version: 1 }
type SavedReceipt = { from: Hex; ok: boolean; gas_used: string; price_wei: string; logs: Log[] }

const NO_HASH: Hex = `0x${'0'.repeat(64)}`
const refusal = (sentence: string) => new RpcError(SERVER_ERROR, sentence)

/**
 * A chain with Base's chain ID and one token contract. Every transaction is mined as soon as its
 * nonce is next, alone in its block.
 */
export class EvmChain {
  readonly state: EvmState
  readonly blocks: Block[] = []
  readonly #mined = new Map<Hex, MinedTransaction>()
  readonly #waiting = new Map<Hex, Transaction>()
  readonly #now: () => number
  #last: Promise<unknown> = Promise.resolve()
  #saved_count = 0

  constructor(now: () => number, snapshot?: EvmSnapshot, changes: readonly EvmChange[] = []) {
    this.#now = now
    this.state = new EvmState([
      ...(snapshot?.world ?? []),
      ...changes.flatMap(({ world }) => world),
    ])
    if (snapshot === undefined) this.#append(null)
    for (const { blocks } of snapshot === undefined ? [] : [snapshot, ...changes]) {
      for (const block of blocks) this.#restore(block)
    }
  }

  get head(): Block {
    const head = this.blocks.at(-1)
    if (head === undefined) throw new Error('a chain has a first block')
    return head
  }

  time_s = (): number => Math.floor(this.#now() / 1_000)

  find = (hash: Hex): MinedTransaction | null => this.#mined.get(hash) ?? null

  /** Simulates a call. */
  call(from: Hex, data: Hex) {
    return callCoin(this.state, { from, time_s: BigInt(this.time_s()) }, data)
  }

  /** Transactions are processed one after another, so each sees the effects of the previous. */
  send(raw: Hex): Promise<Hex> {
    const next = this.#last.then(() => this.#admit(raw))
    this.#last = next.catch(() => undefined)
    return next
  }

  snapshot(): EvmSnapshot {
    return { version: 1, world: this.state.toJson(), blocks: this.blocks.map(savedBlock) }
  }

  /** The cost does not depend on the length of the chain. */
  takeChange(): EvmChange {
    const blocks = this.blocks.slice(this.#saved_count).map(savedBlock)
    this.#saved_count = this.blocks.length
    return { world: this.state.takeChanges(), blocks }
  }

  async #admit(raw: Hex): Promise<Hex> {
    const transaction = await read(raw)
    const { hash, from, content } = transaction
    if (this.#mined.has(hash) || this.#waiting.has(hash)) throw refusal('already known')
    if (content.chainId !== CHAIN_ID) throw refusal('invalid chain id for signer')
    if (BigInt(content.nonce ?? 0) < this.state.nonceOf(from)) throw refusal('nonce too low')
    const { value = 0n, gas = 0n } = content
    if (this.state.weiOf(from) < value + gas * maxPriceOf(content)) {
      throw refusal('insufficient funds for gas * price + value')
    }
    if (maxPriceOf(content) < BASE_FEE_WEI) {
      throw refusal('max fee per gas less than block base fee')
    }
    this.#waiting.set(hash, transaction)
    await this.#mineWaiting()
    return hash
  }

  async #mineWaiting(): Promise<void> {
    const next = [...this.#waiting.values()].find(
      ({ from, content }) => BigInt(content.nonce ?? 0) === this.state.nonceOf(from),
    )
    if (next === undefined) return
    this.#waiting.delete(next.hash)
    this.#append(await this.#execute(next))
    await this.#mineWaiting()
  }

  async #execute(transaction: Transaction): Promise<MinedTransaction> {
    const { from, content } = transaction
    const { to, value = 0n, data = '0x' } = content
    const price_wei = priceOf(content)
    const number = this.blocks.length
    this.state.incrementNonce(from)
    const ended = (ok: boolean, gas_used: bigint, logs: Log[]): MinedTransaction => {
      this.state.addWei(from, -gas_used * price_wei)
      return { ...transaction, number, ok, gas_used, price_wei, logs }
    }
    if (!to) return ended(false, REVERT_GAS, [])
    if (!isAddressEqual(to, USDC)) {
      this.state.addWei(from, -value)
      this.state.addWei(to, value)
      return ended(true, TRANSFER_GAS, [])
    }
    try {
      const { apply, logs } = await this.call(from, data)
      apply(this.state)
      return ended(true, CALL_GAS, logs)
    } catch (cause) {
      if (!(cause instanceof Reverted)) throw cause
      return ended(false, REVERT_GAS, [])
    }
  }

  #append(mined: MinedTransaction | null, time_s = this.time_s()): void {
    const number = this.blocks.length
    const parent = this.blocks.at(-1)?.hash ?? NO_HASH
    const hash = keccak256(stringToHex(`${parent}|${number}|${time_s}|${mined?.hash ?? ''}`))
    this.blocks.push({ number, hash, parent, time_s, mined })
    if (mined !== null) this.#mined.set(mined.hash, mined)
  }

  #restore({ time_s, raw, receipt }: EvmSnapshot['blocks'][number]): void {
    if (raw === null || receipt === null) {
      this.#append(null, time_s)
      return
    }
    const { from, ok, logs } = receipt
    const content = parseTransaction(raw)
    const gas_used = BigInt(receipt.gas_used)
    const price_wei = BigInt(receipt.price_wei)
    const number = this.blocks.length
    const hash = keccak256(raw)
    this.#append({ hash, raw, from, content, number, ok, gas_used, price_wei, logs }, time_s)
  }
}

const savedBlock = ({ time_s, mined }: Block): EvmChange['blocks'][number] => ({
  time_s,
  raw: mined?.raw ?? null,
  receipt: mined === null ? null : savedReceipt(mined),
})

const savedReceipt = ({ from, ok, gas_used, price_wei, logs }: MinedTransaction): SavedReceipt => ({
  from,
  ok,
  gas_used: gas_used.toString(),
  price_wei: price_wei.toString(),
  logs,
})

const maxPriceOf = ({ maxFeePerGas, gasPrice }: TransactionSerializable): bigint =>
  maxFeePerGas ?? gasPrice ?? 0n

function priceOf(content: TransactionSerializable): bigint {
  const offered = BASE_FEE_WEI + (content.maxPriorityFeePerGas ?? TIP_WEI)
  const max = maxPriceOf(content)
  return offered < max ? offered : max
}

async function read(raw: Hex): Promise<Transaction> {
  try {
    const content = parseTransaction(raw)
    const from = await recoverTransactionAddress({ serializedTransaction: raw as never })
    return { hash: keccak256(raw), raw, from, content }
  } catch {
    throw refusal(`not a signed transaction: ${numberToHex(raw.length / 2 - 1)} bytes`)
  }
}
