import { bytesToHex } from '@noble/hashes/utils.js'
import { signerOf } from '#rails/chain/tron/transaction.ts'
import type { Asset } from './asset.ts'
import type { Block, Transaction } from './block.ts'
import { keys, type Reader } from './chain_state.ts'
import {
  ACTIVATION_BANDWIDTH_SUN,
  ACTIVATION_SUN,
  BANDWIDTH_SUN,
  bandwidthFree,
  bandwidthOf,
  FEE_LIMIT_MAX_SUN,
} from './resources.ts'

/** The reason a node refuses a transaction: its code and message. */
export type AdmissionError = { code: string; message: string }

export type AdmissionContext = {
  head: Block
  state: Reader
  assets: ReadonlyMap<string, Asset>
  /** Skips the signature check. */
  unsigned: boolean
  isKnown(txid: string): boolean
  blockByReference(low_bytes: number): Block | null
}

const EXPIRATION_AHEAD_MAX_MS = 86_400_000

type Check = (context: AdmissionContext, transaction: Transaction) => AdmissionError | null

/** In the order of a full node; the first error is returned. */
const checks: readonly Check[] = [
  isNotKnown,
  isSignedByOwner,
  refersToThisChain,
  isInTime,
  ownerExists,
  isAllowed,
  hasBandwidth,
]

export function findAdmissionError(
  context: AdmissionContext,
  transaction: Transaction,
): AdmissionError | null {
  for (const check of checks) {
    const refusal = check(context, transaction)
    if (refusal !== null) return refusal
  }
  return null
}

function isNotKnown(context: AdmissionContext, { txid }: Transaction): AdmissionError | null {
  return context.isKnown(txid) ? admissionError('DUP_TRANSACTION_ERROR', 'Dup transaction.') : null
}

function isSignedByOwner(
  context: AdmissionContext,
  { txid, signature, content }: Transaction,
): AdmissionError | null {
  if (context.unsigned) return null
  const signer = signerOf(txid, signature)
  if (signer !== null && bytesToHex(signer) === ownerOf(content.contract)) return null
  return admissionError('SIGERROR', 'Validate signature error: sig error')
}

function refersToThisChain(
  context: AdmissionContext,
  { content }: Transaction,
): AdmissionError | null {
  const [high = 0, low = 0] = content.ref_block_bytes
  const block = context.blockByReference((high << 8) | low)
  if (block?.id.slice(16, 32) === bytesToHex(content.ref_block_hash)) return null
  return admissionError('TAPOS_ERROR', 'Tapos failed, the reference block is not on this chain.')
}

function isInTime({ head }: AdmissionContext, { content }: Transaction): AdmissionError | null {
  const left_ms = content.expiration_ms - head.timestamp_ms
  if (left_ms > 0 && left_ms <= EXPIRATION_AHEAD_MAX_MS) return null
  return admissionError('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired')
}

function ownerExists({ state }: AdmissionContext, { content }: Transaction): AdmissionError | null {
  if (state.get(keys.exists(ownerOf(content.contract))) > 0n) return null
  return invalid('account does not exist')
}

function isAllowed(context: AdmissionContext, { content }: Transaction): AdmissionError | null {
  const { contract, fee_limit_sun } = content
  if (fee_limit_sun > BigInt(FEE_LIMIT_MAX_SUN)) return invalid('feeLimit is above its maximum')
  switch (contract.type) {
    case 'TriggerSmartContract':
      if (!context.assets.has(bytesToHex(contract.contract)))
        return invalid('No contract or not a smart contract')
      return contract.call_value_sun > 0n ? invalid('the contract takes no TRX') : null
    case 'TransferContract':
      return checkTrxTransfer(context, contract)
    case 'DelegateResourceContract': {
      const owner = ownerOf(contract)
      const free = context.state.get(keys.staked(owner)) - context.state.get(keys.lent(owner))
      if (contract.resource !== 'ENERGY') return invalid('only energy is staked here')
      if (contract.balance_sun < 1_000_000n)
        return invalid('delegateBalance must be at least 1 TRX')
      return contract.balance_sun > free ? invalid('delegateBalance is above what is staked') : null
    }
  }
}

function checkTrxTransfer(
  context: AdmissionContext,
  contract: { owner: Uint8Array; to: Uint8Array; amount_sun: bigint },
): AdmissionError | null {
  const [owner, to] = [bytesToHex(contract.owner), bytesToHex(contract.to)]
  if (contract.amount_sun <= 0n) return invalid('Amount must be greater than 0.')
  if (owner === to) return invalid('Cannot transfer TRX to yourself.')
  if (context.assets.has(to)) return invalid('Cannot transfer TRX to a smartContract.')
  const isNew = context.state.get(keys.exists(to)) === 0n
  const fee_sun = isNew ? ACTIVATION_SUN + ACTIVATION_BANDWIDTH_SUN : 0
  if (context.state.get(keys.trx(owner)) >= contract.amount_sun + BigInt(fee_sun)) return null
  return invalid('Validate TransferContract error, balance is not sufficient.')
}

function hasBandwidth(
  { state, head }: AdmissionContext,
  { content, raw }: Transaction,
): AdmissionError | null {
  const owner = ownerOf(content.contract)
  const bytes = bandwidthOf(raw.length / 2)
  if (bandwidthFree(state, owner, head.timestamp_ms) >= bytes) return null
  if (state.get(keys.trx(owner)) >= BigInt(bytes * BANDWIDTH_SUN)) return null
  return admissionError('BANDWITH_ERROR', 'Account resource insufficient error.')
}

function ownerOf(contract: { owner: Uint8Array }): string {
  return bytesToHex(contract.owner)
}

function invalid(what: string): AdmissionError {
  return admissionError('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${what}`)
}

function admissionError(code: string, message: string): AdmissionError {
  return { code, message }
}
