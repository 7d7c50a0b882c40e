import type { SignedTransfer, TransferIntent } from '#rails/signer/intent.ts'
import type { Chain } from './chain.ts'
import type { BroadcastOutcome } from './tron/broadcast.ts'

/** The node says that this transfer would fail: the sender lacks coins, or the contract refuses. */
export class TransferRefused extends Error {}

/** Prepares, broadcasts and tracks outgoing transfers of a chain. */
export type ChainSender = {
  chain: Chain
  /**
   * The parameters of a new transfer: reference block and fee limit, or nonce and gas. Throws
   * TransferRefused; TRON's transfers are signed anyway and revert.
   */
  networkParameters(payment: Payment): Promise<TransferIntent['network']>
  /**
   * The same nonce with higher fees, for a transfer that is not mined. Null if the chain has no
   * replacements or the sender cannot pay more.
   */
  replacementParameters(
    payment: Payment,
    stuck: StoredTransfer,
  ): Promise<TransferIntent['network'] | null>
  /** The native coin that the payer lacks for the network fee; 0 if enough. Throws the same. */
  missingFuel(payment: Payment): Promise<bigint>
  /** The payer's coins of the asset, in its minor unit. */
  assetBalance(payment: Payment): Promise<bigint>
  broadcast(transfer: StoredTransfer): Promise<BroadcastOutcome>
  lookup(transfer: StoredTransfer): Promise<LookupOutcome>
  /**
   * The transaction with this transfer's nonce in a final block: this transfer, or one that was
   * signed elsewhere. Null if there is none, or the node cannot show it.
   */
  findNonceUser(transfer: StoredTransfer): Promise<NonceUser | null>
}

/** The bytes are null if the node does not show all of them. */
export type NonceUser = { txid: string; raw: string | null }

export type StoredTransfer = Omit<SignedTransfer, 'expires_at_ms' | 'nonce'> & {
  /** 40 hex digits, as in a payment. */
  from: string
  expires_at: Date | null
  nonce: bigint | null
}

export type Payment = {
  /** 40 hex digits each; a null contract is the chain's native coin. */
  from: string
  to: string
  contract: string | null
  amount: bigint
  /** The first nonce that we have not used; null on TRON. */
  next_nonce: number | null
}

/**
 * unknown: not in a block, but it may still be mined. mined: in a block that a fork may remove.
 * final: in a final block. dead: it can never be mined.
 */
export type LookupOutcome =
  | { outcome: 'unknown' | 'dead' }
  | { outcome: 'mined' | 'final'; result: TransferResult; block_number: number }

/**
 * success: exactly the requested amount was moved. reverted: nothing was. mismatch: the transaction
 * succeeded without the Transfer log that belongs to it, so only an operator can say what it moved.
 */
export type TransferResult = 'success' | 'reverted' | 'mismatch'
