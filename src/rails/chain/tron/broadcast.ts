import { bytesToHex } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { type NodeCall, NodeError } from '#rails/chain/node_call.ts'
import { objectOf, sentenceOf } from './http_responses.ts'
import { readRawBytes, type SignedTransaction } from './transaction.ts'
import { rawDataJson } from './transaction_json.ts'

/**
 * accepted: in the node's pool. duplicate: the node already has it; look it up by txid. retryable:
 * unknown; send the same bytes again. rejected: the node refuses these bytes.
 */
export type BroadcastOutcome =
  | { outcome: 'accepted' | 'duplicate' }
  | { outcome: 'retryable' | 'rejected'; code: string; reason: string }

/** Codes about the node, not about the transaction. */
const RETRYABLE_CODES = [
  'SERVER_BUSY',
  'NO_CONNECTION',
  'NOT_ENOUGH_EFFECTIVE_CONNECTION',
  'BLOCK_UNSOLIDIFIED',
]

/**
 * Never throws for a network failure: after a lost, late or malformed response the transfer may
 * have been accepted, so the outcome is retryable.
 */
export async function broadcast(
  call: NodeCall,
  signed: SignedTransaction,
): Promise<BroadcastOutcome> {
  const raw = readRawBytes(signed.raw)
  assert(raw !== null, 'our own transactions are readable')
  try {
    const response = await call('wallet/broadcasttransaction', {
      visible: false,
      txID: signed.txid,
      raw_data: rawDataJson(raw),
      raw_data_hex: bytesToHex(signed.raw),
      signature: [signed.signature],
    })
    return outcomeOf(response, signed.txid)
  } catch (cause) {
    if (!(cause instanceof NodeError)) throw cause
    return { outcome: 'retryable', code: cause.failure.toUpperCase(), reason: cause.message }
  }
}

function outcomeOf(response: unknown, txid: string): BroadcastOutcome {
  const { result, code, message, txid: accepted } = objectOf(response, 'a broadcast result')
  const reason = typeof message === 'string' ? sentenceOf(message) : ''
  if (typeof code === 'string' && code !== 'SUCCESS') {
    if (code === 'DUP_TRANSACTION_ERROR') return { outcome: 'duplicate' }
    return { outcome: RETRYABLE_CODES.includes(code) ? 'retryable' : 'rejected', code, reason }
  }
  if (result === true && (accepted === undefined || accepted === txid))
    return { outcome: 'accepted' }
  return { outcome: 'retryable', code: 'BAD_ANSWER', reason: 'neither accepted nor refused' }
}
