import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { rawDataJson } from '#rails/chain/tron/transaction_json.ts'
import type { Block, ExecutedTransaction, Receipt, Transaction } from './block.ts'
import type { MinedTransaction } from './chain.ts'

/** The JSON of TRON's HTTP API. Like protobuf JSON, it omits zeros and empty values. */
type Json = Record<string, unknown>

/** Placeholders: the sandbox's blocks have no witness. */
const WITNESS = 'fe'.repeat(20)
const WITNESS_SIGNATURE = 'ab'.repeat(65)
const BLOCK_VERSION = 31

export function addressText(address: string, visible: boolean): string {
  return visible ? tronAddressFromBytes(hexToBytes(address)) : `41${address}`
}

export function withoutZeros(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).filter(
      ([, value]) => value !== 0 && value !== '' && value !== undefined,
    ),
  )
}

export function hexMessage(message: string): string {
  return bytesToHex(utf8ToBytes(message))
}

export function blockJson(
  block: Block,
  { detail, visible }: { detail: boolean; visible: boolean },
): Json {
  return {
    blockID: block.id,
    block_header: {
      raw_data: withoutZeros({
        number: block.number,
        txTrieRoot: '0'.repeat(64),
        witness_address: addressText(WITNESS, visible),
        parentHash: block.parent_id,
        version: BLOCK_VERSION,
        timestamp: block.timestamp_ms,
      }),
      witness_signature: WITNESS_SIGNATURE,
    },
    ...(detail && block.mined.length > 0
      ? { transactions: block.mined.map((mined) => minedJson(mined, visible)) }
      : {}),
  }
}

export function transactionJson(
  { txid, raw, content }: Omit<Transaction, 'signature'>,
  visible: boolean,
): Json {
  return {
    visible,
    txID: txid,
    raw_data: rawDataJson(content, visible),
    raw_data_hex: raw,
  }
}

export function minedJson(mined: ExecutedTransaction, visible: boolean): Json {
  const { visible: _, ...rest } = transactionJson(mined, visible)
  const contractRet = mined.receipt.result ?? 'SUCCESS'
  return { ret: [{ contractRet }], signature: [mined.signature], ...rest }
}

export function receiptJson({ block, mined }: MinedTransaction, visible: boolean): Json {
  const { receipt, content } = mined
  const hasFailed = receipt.result !== null && receipt.result !== 'SUCCESS'
  const { contract } = content
  const called = contract.type === 'TriggerSmartContract' ? bytesToHex(contract.contract) : null
  return {
    ...withoutZeros({ id: mined.txid, fee: receipt.fee_sun }),
    blockNumber: block.number,
    blockTimeStamp: block.timestamp_ms,
    contractResult: [receipt.returned],
    ...(called === null ? {} : { contract_address: addressText(called, visible) }),
    receipt: costJson(receipt),
    ...(receipt.logs.length === 0 ? {} : { log: receipt.logs }),
    ...(hasFailed ? { result: 'FAILED', resMessage: hexMessage(receipt.reason) } : {}),
  }
}

function costJson(receipt: Receipt): Json {
  return withoutZeros({
    energy_usage: receipt.energy_staked,
    energy_fee: receipt.energy_fee_sun,
    energy_usage_total: receipt.energy_total,
    net_usage: receipt.bandwidth_used,
    net_fee: receipt.bandwidth_fee_sun,
    result: receipt.result ?? undefined,
  })
}
