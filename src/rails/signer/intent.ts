import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical.ts'

/**
 * What is to be paid, in words that the signer understands. It builds the transaction from this
 * itself and never signs bytes or hashes that somebody else has made.
 */
export type TransferIntent = {
  /** The withdrawal or sweep; the same intent always gets the same bytes. */
  id: string
  /** Counts from 1; a new attempt needs the one before it to be past its expiration. */
  attempt: number
  purpose: 'withdrawal' | 'sweep' | 'fuel'
  chain: string
  /** The asset's contract as the chain spells it; null for the chain's own coin. */
  contract: string | null
  /** The deposit address it concerns; null where only the hot wallet is involved. */
  deposit_index: number | null
  to: string
  /** In the asset's smallest unit. */
  amount: string
  network: TronNetworkFacts | EvmNetworkFacts
  /** The service's word that a withdrawal with exactly this content was asked for. */
  approval: string | null
}

export type TronNetworkFacts = {
  family: 'tron'
  reference: { number: number; id: string }
  fee_limit_sun: string
}

/** Replacing a transfer keeps its nonce, so that only one of them can ever be mined. */
export type EvmNetworkFacts = {
  family: 'evm'
  chain_id: number
  nonce: number
  gas: string
  max_fee_per_gas: string
  max_priority_fee_per_gas: string
}

export type SignedTransfer = {
  txid: string
  raw: string
  signature: string
  /** Null on chains where order, not time, ends a transfer. */
  expires_at_ms: number | null
  /** Its place in the sender's order; null on chains that know none. */
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
  /** Its record cannot be written, or it failed by itself; a restart is needed. */
  | 'signer_fault'

export type SignOutcome =
  | { ok: true; transfer: SignedTransfer }
  | { ok: false; refusal: SignerRefusal }

/** What stays the same over all attempts at one intent. */
type Substance = Pick<TransferIntent, 'id' | 'chain' | 'contract' | 'to' | 'amount'>

export function approvalOf(key: Uint8Array, intent: Substance): string {
  const { id, chain, contract, to, amount } = intent
  const content = canonicalJson({ id, chain, contract, to, amount })
  return createHmac('sha256', key).update(content).digest('hex')
}

export function isApproved(key: Uint8Array, intent: TransferIntent): boolean {
  const given = Buffer.from(intent.approval ?? '', 'hex')
  const expected = Buffer.from(approvalOf(key, intent), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Two intents of one id must say the same thing, whatever block or fee they name. */
export function substanceOf(intent: TransferIntent): string {
  const { id, purpose, chain, contract, deposit_index, to, amount } = intent
  return canonicalJson({ id, purpose, chain, contract, deposit_index, to, amount })
}

/** The name under which the service and its signer derive the key of their approvals. */
export const APPROVAL_PURPOSE = 'withdrawal_approval'
