import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { assert } from '#kernel/assert.ts'
import { readTransferCall } from '#rails/chain/tron/trc20.ts'

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
  const [, , priority, fee, gas, target, , data] = fieldsOf(bytes.subarray(1))
  const call = readTransferCall(data ?? new Uint8Array())
  return {
    max_fee_per_gas: integerIn(fee),
    max_priority_fee_per_gas: integerIn(priority),
    gas: integerIn(gas),
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

const integerIn = (field: Uint8Array | undefined): bigint =>
  field === undefined || field.length === 0 ? 0n : BigInt(`0x${bytesToHex(field)}`)

/** The items of one list; a list inside it is kept as its bytes. */
function fieldsOf(list: Uint8Array): Uint8Array[] {
  const { start, end } = extentOf(list, 0)
  assert(end === list.length, 'nothing follows the list')
  const fields: Uint8Array[] = []
  for (let at = start; at < end; ) {
    const item = extentOf(list, at)
    fields.push(list.subarray(item.start, item.end))
    at = item.end
  }
  return fields
}

/** RLP: a byte below 0x80 is itself; otherwise it has the length, or the length of the length. */
function extentOf(bytes: Uint8Array, at: number): { start: number; end: number } {
  const first = bytes[at] ?? 0
  if (first < 0x80) return { start: at, end: at + 1 }
  const offset = first - (first < 0xc0 ? 0x80 : 0xc0)
  if (offset < 56) return { start: at + 1, end: at + 1 + offset }
  const start = at + 1 + (offset - 55)
  return { start, end: start + Number(integerIn(bytes.subarray(at + 1, start))) }
}
