import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { bytesFromEvmHex } from '#rails/chain/evm/address.ts'
import { type SigningKey, signHash } from '#rails/chain/signing_key.ts'
import { transferCall } from '#rails/chain/tron/trc20.ts'
import type { EvmNetworkParameters, SignedTransfer, TransferIntent } from './intent.ts'

/** EIP-1559. */
const TYPE = Uint8Array.of(2)

type Item = Uint8Array | readonly Item[]

/** Of two transfers with the same nonce, only one can be mined. */
export function signEvmTransfer(
  intent: TransferIntent,
  network: EvmNetworkParameters,
  key: SigningKey,
): SignedTransfer {
  const to = bytesFromEvmHex(intent.to) ?? new Uint8Array()
  const amount = BigInt(intent.amount)
  const contract = intent.contract === null ? null : bytesFromEvmHex(intent.contract)
  const fields: Item[] = [
    integer(network.chain_id),
    integer(network.nonce),
    integer(network.max_priority_fee_per_gas),
    integer(network.max_fee_per_gas),
    integer(network.gas),
    contract ?? to,
    contract === null ? integer(amount) : new Uint8Array(),
    contract === null ? new Uint8Array() : transferCall(to, amount),
    [],
  ]
  const hash = keccak_256(concatBytes(TYPE, rlp(fields)))
  const signature = signHash(key, hash)
  const [recovery = 0] = signature
  const [r, s] = [signature.subarray(1, 33), signature.subarray(33, 65)]
  const signed = [...fields, integer(recovery), trimmed(r), trimmed(s)]
  const raw = concatBytes(TYPE, rlp(signed))
  return {
    txid: bytesToHex(keccak_256(raw)),
    raw: bytesToHex(raw),
    signature: bytesToHex(signature),
    expires_at_ms: null,
    nonce: network.nonce,
  }
}

function integer(value: number | bigint | string): Uint8Array {
  const digits = BigInt(value).toString(16)
  return trimmed(hexToBytes(digits.padStart(digits.length + (digits.length % 2), '0')))
}

/** RLP integers have no leading zeros; zero is empty. */
function trimmed(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  return start < 0 ? new Uint8Array() : bytes.subarray(start)
}

/** RLP, Ethereum's encoding of lists and bytes. */
function rlp(item: Item): Uint8Array {
  if (item instanceof Uint8Array) {
    const isItself = item.length === 1 && (item[0] ?? 0) < 0x80
    return isItself ? item : concatBytes(length(item.length, 0x80), item)
  }
  const content = concatBytes(...item.map(rlp))
  return concatBytes(length(content.length, 0xc0), content)
}

function length(bytes: number, offset: number): Uint8Array {
  if (bytes < 56) return Uint8Array.of(offset + bytes)
  const size = integer(bytes)
  return concatBytes(Uint8Array.of(offset + 55 + size.length), size)
}
