import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { hexOf, listOf, objectOf, quantityOf } from '#rails/chain/json_rpc.ts'
import { addressBytesOfPublicKey } from '#rails/chain/public_key.ts'
import {
  type DecodedItem,
  decodeInteger,
  decodeList,
  encodeInteger,
  encodeList,
  encodeRlp,
  type RlpItem,
} from './rlp.ts'

/** The fields of somebody's transaction that its signature proves. */
export type SignedTransaction = {
  /** 40 hex digits. */
  from: string
  chain_id: bigint
  nonce: bigint
  /** The hash that was signed. The same content has the same one, however it is signed. */
  signing_hash: string
}

/** Of legacy (EIP-155), EIP-2930 and EIP-1559 transactions, with the signature's three. */
const ITEMS_BY_TYPE: Readonly<Record<number, number>> = { 0: 9, 1: 11, 2: 12 }

/** The first v of EIP-155; below it, a signature names no chain. */
const FIRST_V = 35n

/** Null for another type, malformed bytes, or a signature that names no chain. */
export function readSignedTransaction(raw: string): SignedTransaction | null {
  const bytes = hexToBytes(raw)
  const first = bytes[0] ?? 0
  const type = first >= 0xc0 ? 0 : first
  const items = decodeList(type === 0 ? bytes : bytes.subarray(1))
  if (items === null || items.length !== ITEMS_BY_TYPE[type]) return null
  return type === 0 ? readLegacy(items) : readTyped(type, items)
}

function readLegacy(items: readonly DecodedItem[]): SignedTransaction | null {
  const v = integerAt(items, 6)
  if (v < FIRST_V) return null
  const chain_id = (v - FIRST_V) / 2n
  const unsigned = items.slice(0, 6).map(({ encoded }) => encoded)
  const chain = [encodeInteger(chain_id), new Uint8Array(), new Uint8Array()].map(encodeRlp)
  const content = encodeList([...unsigned, ...chain])
  const nonce = integerAt(items, 0)
  return signedBy(content, items, { chain_id, nonce, parity: (v - FIRST_V) % 2n })
}

function readTyped(type: number, items: readonly DecodedItem[]): SignedTransaction | null {
  const unsigned = items.slice(0, -3).map(({ encoded }) => encoded)
  const content = concatBytes(Uint8Array.of(type), encodeList(unsigned))
  const [chain_id, nonce] = [integerAt(items, 0), integerAt(items, 1)]
  return signedBy(content, items, { chain_id, nonce, parity: integerAt(items, -3) })
}

const integerAt = (items: readonly DecodedItem[], index: number): bigint =>
  decodeInteger(items.at(index)?.content)

function signedBy(
  content: Uint8Array,
  items: readonly DecodedItem[],
  { parity, ...fields }: { chain_id: bigint; nonce: bigint; parity: bigint },
): SignedTransaction | null {
  const hash = keccak_256(content)
  const [r, s] = [items.at(-2), items.at(-1)].map((item) => word(item?.content))
  if (parity > 1n || r === undefined || s === undefined || r.length + s.length !== 64) return null
  try {
    const signature = concatBytes(Uint8Array.of(Number(parity)), r, s)
    const key = secp256k1.recoverPublicKey(signature, hash, { prehash: false })
    const from = bytesToHex(addressBytesOfPublicKey(key))
    return { from, signing_hash: bytesToHex(hash), ...fields }
  } catch {
    return null
  }
}

const word = (bytes: Uint8Array = new Uint8Array()): Uint8Array =>
  concatBytes(new Uint8Array(Math.max(0, 32 - bytes.length)), bytes)

/**
 * The bytes of a transaction in a node's block, which shows only its fields. Null if they are not
 * those of its hash, as of a type that this does not know.
 */
export function rawTransactionOf(transaction: Record<string, unknown>): string | null {
  const type = Number(quantityOf(transaction['type'] ?? '0x0', 'a type'))
  const fields = fieldsOf(type, transaction)
  if (fields === null) return null
  const list = encodeRlp(fields)
  const raw = type === 0 ? list : concatBytes(Uint8Array.of(type), list)
  const isWhole = bytesToHex(keccak_256(raw)) === hexOf(transaction['hash'], 32, 'a txid')
  return isWhole ? bytesToHex(raw) : null
}

function fieldsOf(type: number, transaction: Record<string, unknown>): RlpItem[] | null {
  const integer = (name: string) => encodeInteger(quantityOf(transaction[name] ?? '0x0', name))
  const bytes = (name: string) => hexToBytes(String(transaction[name] ?? '0x').slice(2))
  const call = [integer('gas'), bytes('to'), integer('value'), bytes('input')]
  const signature = [integer('v'), integer('r'), integer('s')]
  const [chain, nonce] = [integer('chainId'), integer('nonce')]
  switch (type) {
    case 0:
      return [nonce, integer('gasPrice'), ...call, ...signature]
    case 1:
      return [chain, nonce, integer('gasPrice'), ...call, accessListOf(transaction), ...signature]
    case 2: {
      const fees = [integer('maxPriorityFeePerGas'), integer('maxFeePerGas')]
      return [chain, nonce, ...fees, ...call, accessListOf(transaction), ...signature]
    }
    default:
      return null
  }
}

function accessListOf(transaction: Record<string, unknown>): RlpItem[] {
  return listOf(transaction['accessList'] ?? [], 'an access list').map((value) => {
    const { address, storageKeys } = objectOf(value, 'an entry of an access list')
    const keys = listOf(storageKeys ?? [], 'storage keys')
    return [
      hexToBytes(hexOf(address, 20, 'an address')),
      keys.map((key) => hexToBytes(hexOf(key, 32, 'a storage key'))),
    ]
  })
}
