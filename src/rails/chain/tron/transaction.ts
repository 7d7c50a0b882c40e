import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { addressBytesOfPublicKey } from '#rails/chain/public_key.ts'
import { type SigningKey, signHash } from '#rails/chain/signing_key.ts'
import { contractFields, readContract, type TronContract } from './contract.ts'
import { bytesField, numberField, protoBytes, protoFields } from './protobuf.ts'

/**
 * The signed content of a TRON transaction. There is no nonce: only the txid identifies a transfer,
 * the reference block ties it to one chain, and it cannot execute after its expiration.
 */
export type RawData = {
  ref_block_bytes: Uint8Array
  ref_block_hash: Uint8Array
  expiration_ms: number
  timestamp_ms: number
  fee_limit_sun: bigint
  contract: TronContract
  permission_id?: number
  memo?: Uint8Array
}

export type SignedTransaction = { txid: string; raw: Uint8Array; signature: string }

const SIGNATURE_BYTES = 65

/** TRON encodes the recovery id as 27 or 28. */
const RECOVERY_BASE = 27

export function rawBytes(raw: RawData): Uint8Array {
  assert(raw.ref_block_bytes.length === 2, 'the reference number has 2 bytes')
  assert(raw.ref_block_hash.length === 8, 'the reference hash has 8 bytes')
  return protoBytes([
    [1, raw.ref_block_bytes],
    [4, raw.ref_block_hash],
    [8, BigInt(raw.expiration_ms)],
    [10, raw.memo ?? new Uint8Array()],
    [11, contractBytes(raw)],
    [14, BigInt(raw.timestamp_ms)],
    [18, raw.fee_limit_sun],
  ])
}

function contractBytes({ contract, permission_id = 0 }: RawData): Uint8Array {
  const { type_number, type_url, value } = contractFields(contract)
  const any = protoBytes([
    [1, type_url],
    [2, value],
  ])
  return protoBytes([
    [1, BigInt(type_number)],
    [2, any],
    [5, BigInt(permission_id)],
  ])
}

/** Null unless encoding the result gives the same bytes, so no unread field can hide anything. */
export function readRawBytes(bytes: Uint8Array): RawData | null {
  const fields = protoFields(bytes)
  const outer = fields === null ? null : protoFields(bytesField(fields, 11))
  const packed = outer === null ? null : protoFields(bytesField(outer, 2))
  if (fields === null || outer === null || packed === null) return null
  const contract = readContract(Number(numberField(outer, 1)), bytesField(packed, 2))
  const [bytes_ref, hash_ref] = [bytesField(fields, 1), bytesField(fields, 4)]
  if (contract === null || bytes_ref.length !== 2 || hash_ref.length !== 8) return null
  const memo = bytesField(fields, 10)
  const permission_id = Number(numberField(outer, 5))
  const raw: RawData = {
    ref_block_bytes: bytes_ref,
    ref_block_hash: hash_ref,
    expiration_ms: Number(numberField(fields, 8)),
    timestamp_ms: Number(numberField(fields, 14)),
    fee_limit_sun: numberField(fields, 18),
    contract,
    ...(permission_id === 0 ? {} : { permission_id }),
    ...(memo.length === 0 ? {} : { memo }),
  }
  return bytesToHex(rawBytes(raw)) === bytesToHex(bytes) ? raw : null
}

export function txidOf(raw: Uint8Array): string {
  return bytesToHex(sha256(raw))
}

/** A transaction's reference to its block: two bytes of the number and eight of the hash. */
export function referenceOf(block: { number: number; id: string }): {
  ref_block_bytes: Uint8Array
  ref_block_hash: Uint8Array
} {
  return {
    ref_block_bytes: Uint8Array.of((block.number >> 8) & 255, block.number & 255),
    ref_block_hash: hexToBytes(block.id.slice(16, 32)),
  }
}

/**
 * Takes the content, never a hash, so the signer sees what it signs. Signatures are deterministic
 * (RFC 6979): the same content always gives the same one.
 */
export function signTransaction(content: RawData, key: SigningKey): SignedTransaction {
  const raw = rawBytes(content)
  const [recovery = 0, ...compact] = signHash(key, sha256(raw))
  const signature = bytesToHex(Uint8Array.of(...compact, recovery + RECOVERY_BASE))
  return { txid: txidOf(raw), raw, signature }
}

/** The signer's 20 address bytes, or null if the signature is invalid. */
export function signerOf(txid: string, signature: string): Uint8Array | null {
  if (!/^[0-9a-fA-F]{64}$/.test(txid) || !/^[0-9a-fA-F]{130}$/.test(signature)) return null
  const bytes = hexToBytes(signature)
  const last = bytes[SIGNATURE_BYTES - 1] ?? 0
  const recovery = last >= RECOVERY_BASE ? last - RECOVERY_BASE : last
  const recovered = concatBytes(Uint8Array.of(recovery), bytes.subarray(0, SIGNATURE_BYTES - 1))
  try {
    const options = { prehash: false } as const
    const key = secp256k1.recoverPublicKey(recovered, hexToBytes(txid), options)
    return addressBytesOfPublicKey(key)
  } catch {
    return null
  }
}
