import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { NodeError } from '#rails/chain/node_call.ts'
import { isObject, type JsonObject } from './transaction_json.ts'

export type TronBlock = {
  number: number
  id: string
  parent_id: string
  timestamp_ms: number
}

export type TronLog = { address: Uint8Array; topics: readonly string[]; data: Uint8Array }

export type TronReceipt = {
  txid: string
  block_number: number
  block_timestamp_ms: number
  /** The call succeeded. Its return value is ignored, because USDT returns false on success. */
  ok: boolean
  /** The node says that it failed. A receipt with neither is incomplete or contradicts itself. */
  is_reverted: boolean
  /** The node's result, such as SUCCESS, REVERT or OUT_OF_ENERGY; null for a TRX transfer. */
  result: string | null
  fee_sun: bigint
  energy_used: bigint
  logs: readonly TronLog[]
}

export type ContractCallResult = {
  ok: boolean
  returned: Uint8Array
  energy_used: bigint
  reason: string | null
}

export type TronResources = {
  bandwidth_free: bigint
  energy_free: bigint
}

export function objectOf(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw bad(what)
  return value
}

export function blockOf(response: unknown): TronBlock {
  const block = objectOf(response, 'a block')
  const header = objectOf(objectOf(block.block_header, 'a block header').raw_data, 'a header')
  const id = hexText(block.blockID, 64, 'a block id')
  const number = integer(header.number)
  if (Number.parseInt(id.slice(0, 16), 16) !== number)
    throw bad('a block id that starts with its height')
  return {
    number,
    id,
    parent_id: hexText(header.parentHash, 64, 'a parent id'),
    timestamp_ms: integer(header.timestamp),
  }
}

/** Nodes return {} for an unknown transaction. */
export function receiptOf(response: unknown): TronReceipt | null {
  const receipt = objectOf(response, 'a receipt')
  if (Object.keys(receipt).length === 0) return null
  const cost = objectOf(receipt.receipt ?? {}, 'a cost')
  const result = typeof cost.result === 'string' ? cost.result : null
  const isCall = typeof receipt.contract_address === 'string'
  return {
    txid: hexText(receipt.id, 64, 'a txid'),
    block_number: integer(receipt.blockNumber),
    block_timestamp_ms: integer(receipt.blockTimeStamp),
    ok: receipt.result !== 'FAILED' && (isCall ? result === 'SUCCESS' : result === null),
    is_reverted: result === null ? receipt.result === 'FAILED' : result !== 'SUCCESS',
    result,
    fee_sun: BigInt(integer(receipt.fee)),
    energy_used: BigInt(integer(cost.energy_usage_total)),
    logs: listOf(receipt.log).map(logOf),
  }
}

export function receiptsOf(response: unknown): TronReceipt[] {
  // For a block without transactions, some versions return {} and others [].
  if (isObject(response) && Object.keys(response).length === 0) return []
  return listOf(response).flatMap((item) => receiptOf(item) ?? [])
}

function logOf(value: unknown): TronLog {
  const log = objectOf(value, 'a log')
  return {
    address: hexToBytes(hexText(log.address, 40, 'a log address')),
    topics: listOf(log.topics).map((topic) => hexText(topic, 64, 'a topic')),
    data: bytesOf(log.data ?? ''),
  }
}

export function contractCallResultOf(response: unknown): ContractCallResult {
  const object = objectOf(response, 'a call')
  const result = objectOf(object.result, 'a call result')
  const [returned = ''] = listOf(object.constant_result)
  const reason = typeof result.message === 'string' ? sentenceOf(result.message) : null
  return {
    ok: result.result === true && reason === null,
    returned: bytesOf(returned),
    energy_used: BigInt(integer(object.energy_used)),
    reason: reason ?? (typeof result.code === 'string' ? result.code : null),
  }
}

export function resourcesOf(response: unknown): TronResources {
  const of = objectOf(response, 'resources')
  const net =
    integer(of.freeNetLimit) - integer(of.freeNetUsed) + integer(of.NetLimit) - integer(of.NetUsed)
  return {
    bandwidth_free: BigInt(Math.max(0, net)),
    energy_free: BigInt(Math.max(0, integer(of.EnergyLimit) - integer(of.EnergyUsed))),
  }
}

export function chainParametersOf(response: unknown): Map<string, bigint> {
  const parameters = new Map<string, bigint>()
  for (const item of listOf(objectOf(response, 'chain parameters').chainParameter)) {
    const { key, value } = objectOf(item, 'a chain parameter')
    if (typeof key === 'string' && Number.isSafeInteger(value ?? 0)) {
      parameters.set(key, BigInt(Number(value ?? 0)))
    }
  }
  return parameters
}

/** Messages are hex-encoded text; some versions send plain text. */
export function sentenceOf(message: string): string {
  const isHex = message.length > 0 && /^(?:[0-9a-fA-F]{2})*$/.test(message)
  return isHex ? new TextDecoder().decode(hexToBytes(message)) : message
}

/** Nodes omit zeros. */
export function integer(value: unknown): number {
  const number = value ?? 0
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) {
    throw bad('a whole number')
  }
  return number
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw bad('a list')
  return value
}

function hexText(value: unknown, letters: number, what: string): string {
  if (typeof value !== 'string' || value.length !== letters) throw bad(what)
  return bytesToHex(bytesOf(value))
}

function bytesOf(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(value)) throw bad('hex')
  return hexToBytes(value)
}

function bad(what: string): NodeError {
  return new NodeError('bad_answer', `the TRON node's response lacks ${what}`)
}
