import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { Secret } from '#kernel/secret.ts'
import { addressBytesOfPrivateKey } from '#rails/chain/public_key.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import type { TronContract } from '#rails/chain/tron/contract.ts'
import { rawBytes, signTransaction, txidOf } from '#rails/chain/tron/transaction.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'
import type { Transaction } from './block.ts'
import type { Chain } from './chain.ts'
import { keys } from './chain_state.ts'
import { newContent } from './wallet_writes.ts'

/** A public key, for sandbox money only. */
const KEY = new Secret(sha256(utf8ToBytes('florin sandbox exchange')))
const ADDRESS = addressBytesOfPrivateKey(KEY.open())
const STRANGER = sha256(utf8ToBytes('florin sandbox stranger')).slice(12)

/** A billion TRX, which stays exact as a JSON number. */
const ENDOWMENT_SUN = 10n ** 15n

/** More than any number of the largest deposits takes. */
const ENDOWMENT_MICROS = 10n ** 30n
const FEE_LIMIT_SUN = 100_000_000n

/** Enough for a transfer to a new holder, with bandwidth. */
const SENDER_FEES_SUN = 20_000_000n

export type AssetPayment = { asset: string; to: string; amount: bigint; from?: string }

/** The sandbox's default sender of deposits; it also funds other senders. */
export class Exchange {
  readonly address = tronAddressFromBytes(ADDRESS)
  readonly #chain: () => Chain

  constructor(chain: () => Chain) {
    this.#chain = chain
  }

  /** Sets its balances before the first block. */
  static fundAtGenesis(chain: Chain): void {
    const address = bytesToHex(ADDRESS)
    chain.state.set(keys.exists(address), 1n)
    chain.state.set(keys.trx(address), ENDOWMENT_SUN)
    for (const asset of chain.assets.keys()) {
      chain.state.set(keys.asset(asset, address), ENDOWMENT_MICROS)
      chain.state.set(keys.supply(asset), ENDOWMENT_MICROS)
    }
    chain.state.takeUndo()
  }

  /** Funds the sender in the same block if its balance is too low. */
  send({ asset, to, amount, from = bytesToHex(ADDRESS) }: AssetPayment): string {
    const chain = this.#chain()
    assert(chain.assets.has(asset), 'the asset is on this chain')
    if (from !== bytesToHex(ADDRESS)) this.#equip(chain, from, { asset, amount })
    return this.#pool(this.#signed(this.#call(asset, { from, to, amount })))
  }

  sendTrx(to: string, amount_sun: bigint): string {
    return this.#pool(this.#signed(payment(to, amount_sun)))
  }

  /** A zero transfer with a log, to shift the log indexes of a block. */
  unrelatedTransfer(): Transaction {
    const [asset] = this.#chain().assets.keys()
    assert(asset !== undefined, 'there is an asset')
    const [from, to] = [bytesToHex(ADDRESS), bytesToHex(STRANGER)]
    return this.#signed(this.#call(asset, { from, to, amount: 0n }))
  }

  #equip(chain: Chain, sender: string, { asset, amount }: { asset: string; amount: bigint }): void {
    const gifts: TronContract[] = []
    if (chain.state.get(keys.trx(sender)) < SENDER_FEES_SUN)
      gifts.push(payment(sender, SENDER_FEES_SUN))
    if (chain.state.get(keys.asset(asset, sender)) < amount) {
      gifts.push(this.#call(asset, { from: bytesToHex(ADDRESS), to: sender, amount }))
    }
    for (const gift of gifts) this.#pool({ ...this.#signed(gift), supports_others: true })
  }

  #call(
    asset: string,
    { from, to, amount }: { from: string; to: string; amount: bigint },
  ): TronContract {
    return {
      type: 'TriggerSmartContract',
      owner: hexToBytes(from),
      contract: hexToBytes(asset),
      call_value_sun: 0n,
      data: transferCall(hexToBytes(to), amount),
    }
  }

  /**
   * Signs for every sender with the exchange's key; the pool does not verify signatures. Equal
   * content would be the same transaction, so the timestamp is increased until the txid is new.
   */
  #signed(contract: TronContract): Transaction {
    const chain = this.#chain()
    const base = newContent(chain, contract, FEE_LIMIT_SUN)
    for (let later_ms = 0; ; later_ms += 1) {
      const content = { ...base, timestamp_ms: base.timestamp_ms + later_ms }
      const raw = bytesToHex(rawBytes(content))
      if (chain.isKnown(txidOf(hexToBytes(raw)))) continue
      const { txid, signature } = signTransaction(content, KEY)
      return { txid, content, raw, signature }
    }
  }

  #pool(transaction: Transaction): string {
    this.#chain().pool.push(transaction)
    return transaction.txid
  }
}

function payment(to: string, amount_sun: bigint): TronContract {
  return { type: 'TransferContract', owner: ADDRESS, to: hexToBytes(to), amount_sun }
}
