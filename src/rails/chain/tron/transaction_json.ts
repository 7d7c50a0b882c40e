import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import {
  bytesFromTronAddress,
  bytesFromTronHex,
  tronAddressFromBytes,
  tronHexFromBytes,
} from './address.ts'
import { RESOURCES, type TronContract, typeUrlOf } from './contract.ts'
import type { RawData } from './transaction.ts'

/**
 * The JSON form of raw_data in node requests and responses. Addresses are hex with 41, or base58 if
 * the call has `visible`. Nodes rebuild the bytes from it, so it must contain every field.
 */
export type JsonObject = Record<string, unknown>

export function rawDataJson(raw: RawData, visible = false): JsonObject {
  const { contract, permission_id, memo } = raw
  return {
    contract: [
      {
        parameter: { value: contractJson(contract, visible), type_url: typeUrlOf(contract.type) },
        type: contract.type,
        ...(permission_id === undefined ? {} : { Permission_id: permission_id }),
      },
    ],
    ref_block_bytes: bytesToHex(raw.ref_block_bytes),
    ref_block_hash: bytesToHex(raw.ref_block_hash),
    expiration: raw.expiration_ms,
    ...(raw.fee_limit_sun === 0n ? {} : { fee_limit: Number(raw.fee_limit_sun) }),
    timestamp: raw.timestamp_ms,
    ...(memo === undefined ? {} : { data: bytesToHex(memo) }),
  }
}

function contractJson(contract: TronContract, visible: boolean): JsonObject {
  const address = visible ? tronAddressFromBytes : tronHexFromBytes
  const owner_address = address(contract.owner)
  switch (contract.type) {
    case 'TriggerSmartContract':
      return {
        data: bytesToHex(contract.data),
        owner_address,
        contract_address: address(contract.contract),
        ...(contract.call_value_sun === 0n ? {} : { call_value: Number(contract.call_value_sun) }),
      }
    case 'TransferContract':
      return {
        amount: Number(contract.amount_sun),
        owner_address,
        to_address: address(contract.to),
      }
    case 'DelegateResourceContract':
      return {
        balance: Number(contract.balance_sun),
        ...(contract.resource === 'ENERGY' ? { resource: 'ENERGY' } : {}),
        receiver_address: address(contract.receiver),
        owner_address,
      }
  }
}

/** Null for JSON that is not one of our transactions. */
export function rawDataFromJson(json: unknown, visible = false): RawData | null {
  if (!isObject(json) || !Array.isArray(json.contract) || json.contract.length !== 1) return null
  const outer: unknown = json.contract[0]
  if (!isObject(outer) || !isObject(outer.parameter) || !isObject(outer.parameter.value))
    return null
  const contract = contractFromJson(outer.type, outer.parameter.value, visible)
  const ref_block_bytes = hexOf(json.ref_block_bytes)
  const ref_block_hash = hexOf(json.ref_block_hash)
  const memo = hexOf(json.data ?? '')
  const expiration = amountOf(json.expiration)
  const timestamp = amountOf(json.timestamp)
  const fee_limit_sun = amountOf(json.fee_limit)
  const permission = amountOf(outer.Permission_id)
  if (contract === null || memo === null || permission === null || fee_limit_sun === null)
    return null
  if (expiration === null || timestamp === null) return null
  if (ref_block_bytes?.length !== 2 || ref_block_hash?.length !== 8) return null
  return {
    ref_block_bytes,
    ref_block_hash,
    expiration_ms: Number(expiration),
    timestamp_ms: Number(timestamp),
    fee_limit_sun,
    contract,
    ...(permission === 0n ? {} : { permission_id: Number(permission) }),
    ...(memo.length === 0 ? {} : { memo }),
  }
}

function contractFromJson(type: unknown, value: JsonObject, visible: boolean): TronContract | null {
  const owner = addressOf(value.owner_address, visible)
  if (owner === null) return null
  if (type === 'TriggerSmartContract') {
    const contract = addressOf(value.contract_address, visible)
    const call_value_sun = amountOf(value.call_value)
    const data = hexOf(value.data ?? '')
    if (contract === null || call_value_sun === null || data === null) return null
    return { type, owner, contract, call_value_sun, data }
  }
  if (type === 'TransferContract') {
    const to = addressOf(value.to_address, visible)
    const amount_sun = amountOf(value.amount)
    return to === null || amount_sun === null ? null : { type, owner, to, amount_sun }
  }
  if (type === 'DelegateResourceContract') {
    const receiver = addressOf(value.receiver_address, visible)
    const resource = RESOURCES.find((name) => name === (value.resource ?? 'BANDWIDTH'))
    const balance_sun = amountOf(value.balance)
    if (receiver === null || resource === undefined || balance_sun === null) return null
    return { type, owner, receiver, resource, balance_sun }
  }
  return null
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function addressOf(value: unknown, visible: boolean): Uint8Array | null {
  if (typeof value !== 'string') return null
  return visible ? bytesFromTronAddress(value) : bytesFromTronHex(value)
}

export function hexOf(value: unknown): Uint8Array | null {
  const isHex = typeof value === 'string' && /^(?:[0-9a-fA-F]{2})*$/.test(value)
  return isHex ? hexToBytes(value) : null
}

/** Nodes omit zeros, so a missing value is zero. */
export function amountOf(value: unknown): bigint | null {
  if (value === undefined) return 0n
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? BigInt(value)
    : null
}
