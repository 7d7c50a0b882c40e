import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical.ts'

/**
 * A transfer request in structured form. The signer builds the transaction from it and never signs
 * bytes or hashes made by others.
 */
export type TransferIntent = {
  /** The withdrawal or sweep. The same intent always gets the same signed bytes. */
  id: string
  /** Starts at 1; a new attempt requires that the previous one has expired. */
  attempt: number
  purpose: 'withdrawal' | 'sweep' | 'fuel'
  chain: string
  /** The asset's contract in the chain's own format; null for the chain's native coin. */
  contract: string | null
  /** The deposit address of a sweep or its fuel; null for withdrawals. */
  deposit_index: number | null
  to: string
  /** In the asset's minor unit. */
  amount: string
  network: TronNetworkParameters | EvmNetworkParameters
  /** A MAC of the service: this exact withdrawal was requested. */
  approval: string | null
}

type TronNetworkParameters = {
  family: 'tron'
  reference: { number: number; id: string }
  fee_limit_sun: string
}

/** A replacement keeps its nonce, so only one of the transfers can be mined. */
export type EvmNetworkParameters = {
  family: 'evm'
  chain_id: number
  nonce: number
  gas: string
  max_fee_per_gas: string
  max_priority_fee_per_gas: string
  /**
   * The signed bytes of another transaction of the same sender that took the last attempt's nonce.
   * With it, and only then, the signer gives the next attempt a new nonce.
   */
  nonce_taken_by?: string
}

export type SignedTransfer = {
  txid: string
  raw: string
  signature: string
  /** Null on EVM chains, whose transfers do not expire. */
  expires_at_ms: number | null
  /** Null on TRON, which has no nonces. */
  nonce: number | null
}

export type SignerRefusal =
  | 'amount_over_limit'
  | 'fee_over_limit'
  | 'contract_not_allowed'
  | 'velocity_exceeded'
  | 'intent_conflict'
  | 'attempt_too_early'
  | 'bad_address'
  | 'bad_approval'
  | 'bad_intent'
  /** The record cannot be written or the signer failed; it must be restarted. */
  | 'signer_fault'

export type SignOutcome =
  | { ok: true; transfer: SignedTransfer }
  | { ok: false; refusal: SignerRefusal }

/** The content that an approval covers; the same for all attempts. */
type ApprovedContent = Pick<TransferIntent, 'id' | 'chain' | 'contract' | 'to' | 'amount'>

export function approvalOf(key: Uint8Array, intent: ApprovedContent): string {
  const { id, chain, contract, to, amount } = intent
  const content = canonicalJson({ id, chain, contract, to, amount })
  return createHmac('sha256', key).update(content).digest('hex')
}

export function isApproved(key: Uint8Array, intent: TransferIntent): boolean {
  const received = Buffer.from(intent.approval ?? '', 'hex')
  const expected = Buffer.from(approvalOf(key, intent), 'hex')
  return received.length === expected.length && timingSafeEqual(received, expected)
}

/** All attempts of an intent must have the same substance; block and fees may differ. */
export function substanceOf(intent: TransferIntent): string {
  const { id, purpose, chain, contract, deposit_index, to, amount } = intent
  return canonicalJson({ id, purpose, chain, contract, deposit_index, to, amount })
}

/** The purpose from which service and signer derive the approval key. */
export const APPROVAL_PURPOSE = 'withdrawal_approval'
