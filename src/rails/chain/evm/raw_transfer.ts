import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { readTransferCall } from '#rails/chain/tron/trc20.ts'
import { decodeInteger, decodeList } from './rlp.ts'

/** The fields of our own transfer, decoded from its stored bytes. */
export type RawTransfer = {
  max_fee_per_gas: bigint
  max_priority_fee_per_gas: bigint
  gas: bigint
  /** Null if it moves the chain's native coin. */
  asset: { contract: string; to: string; amount: bigint } | null
}

/** EIP-1559: a type byte, then the list of fields. Decodes only what our signer encoded. */
export function readRawTransfer(raw: string): RawTransfer {
  const bytes = hexToBytes(raw)
  assert(bytes[0] === 2, 'our transfers are of type 2')
  const items = decodeList(bytes.subarray(1))
  assert(items !== null, 'our transfers are one list')
  const [, , priority, fee, gas, target, , data] = items.map(({ content }) => content)
  const call = readTransferCall(data ?? new Uint8Array())
  return {
    max_fee_per_gas: decodeInteger(fee),
    max_priority_fee_per_gas: decodeInteger(priority),
    gas: decodeInteger(gas),
    asset:
      call === null
        ? null
        : {
            contract: bytesToHex(target ?? new Uint8Array()),
            to: bytesToHex(call.to),
            amount: call.amount,
          },
  }
}
