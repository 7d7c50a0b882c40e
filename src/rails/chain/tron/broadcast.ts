import { bytesToHex } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { type NodeCall, NodeError } from '#rails/chain/node_call.ts'
import { objectOf, sentenceOf } from './http_responses.ts'
import { readRawBytes, type SignedTransaction } from './transaction.ts'
import { rawDataJson } from './transaction_json.ts'

/**
 * accepted: in the pool, no more than that. duplicate: the node has had it before; look it up by
 * its txid. retryable: nothing is known about the transfer; send the very same bytes again.
 * rejected: this node will not take these bytes.
 */
export type BroadcastOutcome =
  | { outcome: 'accepted' | 'duplicate' }
  | { outcome: 'retryable' | 'rejected'; code: string; reason: string }

/** Codes that speak of the node, not of the transaction. */
const RETRYABLE_CODES = [
  'SERVER_BUSY',
  'NO_CONNECTION',
  'NOT_ENOUGH_EFFECTIVE_CONNECTION',
  'BLOCK_UNSOLIDIFIED',
]

/**
 * Sending never throws for what the network does: an answer that is lost, late or nonsense leaves
 * the transfer in the unknown, and the rule for the unknown is to send again.
 */
export async function broadcast(
  call: NodeCall,
  signed: SignedTransaction,
): Promise<BroadcastOutcome> {
  const raw = readRawBytes(signed.raw)
  assert(raw !== null, 'only transactions that we can read are broadcast')
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
  const { result, code, message, txid: answered } = objectOf(response, 'a broadcast answer')
  const reason = typeof message === 'string' ? sentenceOf(message) : ''
  if (typeof code === 'string' && code !== 'SUCCESS') {
    if (code === 'DUP_TRANSACTION_ERROR') return { outcome: 'duplicate' }
    return { outcome: RETRYABLE_CODES.includes(code) ? 'retryable' : 'rejected', code, reason }
  }
  if (result === true && (answered === undefined || answered === txid))
    return { outcome: 'accepted' }
  return { outcome: 'retryable', code: 'BAD_ANSWER', reason: 'neither accepted nor refused' }
}
