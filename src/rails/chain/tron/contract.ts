import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { bytesFromTronHex, tronHexFromBytes } from './address.ts'
import { bytesField, numberField, type ProtoField, protoBytes, protoFields } from './protobuf.ts'

/** The contract types we build: a token transfer, a TRX transfer, delegated energy for a sweep. */
export type TronContract =
  | {
      type: 'TriggerSmartContract'
      owner: Uint8Array
      contract: Uint8Array
      call_value_sun: bigint
      data: Uint8Array
    }
  | { type: 'TransferContract'; owner: Uint8Array; to: Uint8Array; amount_sun: bigint }
  | {
      type: 'DelegateResourceContract'
      owner: Uint8Array
      receiver: Uint8Array
      resource: 'BANDWIDTH' | 'ENERGY'
      balance_sun: bigint
    }

/** The numbers of TRON's ContractType. */
const TYPE_NUMBERS = {
  TransferContract: 1,
  TriggerSmartContract: 31,
  DelegateResourceContract: 57,
} as const satisfies Record<TronContract['type'], number>

export const RESOURCES = ['BANDWIDTH', 'ENERGY'] as const

export function typeUrlOf(type: TronContract['type']): string {
  return `type.googleapis.com/protocol.${type}`
}

export function contractFields(contract: TronContract): {
  type_number: number
  type_url: Uint8Array
  value: Uint8Array
} {
  return {
    type_number: TYPE_NUMBERS[contract.type],
    type_url: utf8ToBytes(typeUrlOf(contract.type)),
    value: protoBytes(valueFields(contract)),
  }
}

function valueFields(contract: TronContract): ProtoField[] {
  const owner: ProtoField = [1, withVersion(contract.owner)]
  switch (contract.type) {
    case 'TriggerSmartContract':
      return [
        owner,
        [2, withVersion(contract.contract)],
        [3, contract.call_value_sun],
        [4, contract.data],
      ]
    case 'TransferContract':
      return [owner, [2, withVersion(contract.to)], [3, contract.amount_sun]]
    case 'DelegateResourceContract':
      return [
        owner,
        [2, BigInt(RESOURCES.indexOf(contract.resource))],
        [3, contract.balance_sun],
        [4, withVersion(contract.receiver)],
      ]
  }
}

/** Null for other contract types and invalid addresses; the caller compares the bytes. */
export function readContract(type_number: number, value: Uint8Array): TronContract | null {
  const fields = protoFields(value)
  if (fields === null) return null
  const owner = withoutVersion(bytesField(fields, 1))
  const number = numberField(fields, 3)
  if (owner === null) return null
  if (type_number === TYPE_NUMBERS.TriggerSmartContract) {
    const contract = withoutVersion(bytesField(fields, 2))
    const data = bytesField(fields, 4)
    if (contract === null) return null
    return { type: 'TriggerSmartContract', owner, contract, call_value_sun: number, data }
  }
  if (type_number === TYPE_NUMBERS.TransferContract) {
    const to = withoutVersion(bytesField(fields, 2))
    return to === null ? null : { type: 'TransferContract', owner, to, amount_sun: number }
  }
  if (type_number === TYPE_NUMBERS.DelegateResourceContract) {
    const receiver = withoutVersion(bytesField(fields, 4))
    const resource = RESOURCES[Number(numberField(fields, 2))]
    if (receiver === null || resource === undefined) return null
    return { type: 'DelegateResourceContract', owner, receiver, resource, balance_sun: number }
  }
  return null
}

function withVersion(address: Uint8Array): Uint8Array {
  return hexToBytes(tronHexFromBytes(address))
}

function withoutVersion(bytes: Uint8Array): Uint8Array | null {
  return bytesFromTronHex(bytesToHex(bytes))
}
