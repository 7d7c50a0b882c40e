import type { SignedTransfer, TransferIntent } from '#rails/signer/intent.ts'
import type { Chain } from './chain.ts'
import type { BroadcastOutcome } from './tron/broadcast.ts'

/** A chain as money leaves by it. */
export type ChainSender = {
  chain: Chain
  /** What a new transfer has to say about the chain as it is now: reference, fees, order. */
  networkParameters(payment: Payment): Promise<TransferIntent['network']>
  /**
   * The same place in the order at a higher price, for a transfer that nobody takes into a block.
   * Null where there is no such thing, or the sender cannot pay more.
   */
  replacementParameters(
    payment: Payment,
    stuck: StoredTransfer,
  ): Promise<TransferIntent['network'] | null>
  /** What the payer lacks of the chain's own coin to make this payment; 0 if nothing. */
  missingFuel(payment: Payment): Promise<bigint>
  broadcast(transfer: StoredTransfer): Promise<BroadcastOutcome>
  lookup(transfer: StoredTransfer): Promise<TransferFate>
}

export type StoredTransfer = Omit<SignedTransfer, 'expires_at_ms' | 'nonce'> & {
  /** 40 digits, as in a payment. */
  from: string
  expires_at: Date | null
  nonce: bigint | null
}

export type Payment = {
  /** 40 digits each; a null contract is the chain's own coin. */
  from: string
  to: string
  contract: string | null
  amount: bigint
  /** The first place in the sender's order that we have not given away, where there is one. */
  next_nonce: number | null
}

/**
 * unknown: it may still be anywhere, also nowhere. mined: in a block that a fork may take back.
 * final: it stays. dead: it is in no final block and can never be in one.
 */
export type TransferFate =
  | { fate: 'unknown' | 'dead' }
  | { fate: 'mined' | 'final'; ok: boolean; block_number: number }
