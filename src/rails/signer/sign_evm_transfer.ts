import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'
import { bytesFromEvmHex } from '#rails/chain/evm/address.ts'
import { encodeInteger, encodeRlp, type RlpItem, trimZeros } from '#rails/chain/evm/rlp.ts'
import { type SigningKey, signHash } from '#rails/chain/signing_key.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'
import type { EvmNetworkParameters, SignedTransfer, TransferIntent } from './intent.ts'

/** EIP-1559. */
const TYPE = Uint8Array.of(2)

/** Of two transfers with the same nonce, only one can be mined. */
export function signEvmTransfer(
  intent: TransferIntent,
  network: EvmNetworkParameters,
  key: SigningKey,
): SignedTransfer {
  const to = bytesFromEvmHex(intent.to) ?? new Uint8Array()
  const amount = BigInt(intent.amount)
  const contract = intent.contract === null ? null : bytesFromEvmHex(intent.contract)
  const fields: RlpItem[] = [
    encodeInteger(network.chain_id),
    encodeInteger(network.nonce),
    encodeInteger(network.max_priority_fee_per_gas),
    encodeInteger(network.max_fee_per_gas),
    encodeInteger(network.gas),
    contract ?? to,
    contract === null ? encodeInteger(amount) : new Uint8Array(),
    contract === null ? new Uint8Array() : transferCall(to, amount),
    [],
  ]
  const hash = keccak_256(concatBytes(TYPE, encodeRlp(fields)))
  const signature = signHash(key, hash)
  const [recovery = 0] = signature
  const [r, s] = [signature.subarray(1, 33), signature.subarray(33, 65)]
  const signed = [...fields, encodeInteger(recovery), trimZeros(r), trimZeros(s)]
  const raw = concatBytes(TYPE, encodeRlp(signed))
  return {
    txid: bytesToHex(keccak_256(raw)),
    raw: bytesToHex(raw),
    signature: bytesToHex(signature),
    expires_at_ms: null,
    nonce: network.nonce,
  }
}
