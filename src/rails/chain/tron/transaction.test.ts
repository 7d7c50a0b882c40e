import assert from 'node:assert/strict'
import { test } from 'node:test'
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { type RawData, rawBytes, readRawBytes, txidOf } from './transaction.ts'
import { rawDataFromJson, rawDataJson } from './transaction_json.ts'
import { readTransferCall, transferCall } from './trc20.ts'

/** A USDT transfer that was mined on Nile. */
const content: RawData = {
  ref_block_bytes: hexToBytes('28c3'),
  ref_block_hash: hexToBytes('ce6d340282788569'),
  expiration_ms: 1_777_447_227_000,
  timestamp_ms: 1_777_447_168_009,
  fee_limit_sun: 100_000_000n,
  contract: {
    type: 'TriggerSmartContract',
    owner: hexToBytes('dd791d6b49e190062d650e6a23c575510d35f2f9'),
    contract: hexToBytes('eca9bc828a3005b9a3b909f2cc5c2a54794de05f'),
    call_value_sun: 0n,
    data: transferCall(hexToBytes('088a2bfcb1c7271029fd69a66859d55560895884'), 100n),
  },
}

test('the txid of a mined transfer follows from its content', () => {
  const txid = '8c621a0dc9bd4d405b20d0a43143955b9f546f98bbfde1aec295a65b0f925629'
  assert.equal(txidOf(rawBytes(content)), txid)
})

test('own bytes decode, and bytes with unknown fields do not', () => {
  const bytes = rawBytes(content)
  assert.deepEqual(readRawBytes(bytes), content)
  const hidden = Uint8Array.of(0x62, 0x01, 0x07)
  assert.equal(readRawBytes(concatBytes(bytes, hidden)), null)
  assert.equal(readRawBytes(bytes.slice(0, -1)), null)
  assert.equal(readRawBytes(new Uint8Array()), null)
  // The same content with its first two fields exchanged hashes to another txid.
  const swapped = concatBytes(bytes.slice(4, 14), bytes.slice(0, 4), bytes.slice(14))
  assert.equal(readRawBytes(swapped), null)
})

test('a JSON round trip keeps every field, in both address formats', () => {
  for (const visible of [false, true]) {
    const json: unknown = JSON.parse(JSON.stringify(rawDataJson(content, visible)))
    assert.deepEqual(rawDataFromJson(json, visible), content)
    assert.equal(rawDataFromJson(json, !visible), null)
  }
})

test('only an exact transfer call decodes', () => {
  const to = hexToBytes('088a2bfcb1c7271029fd69a66859d55560895884')
  const call = transferCall(to, 2n ** 256n - 1n)
  assert.deepEqual(readTransferCall(call), { to, amount: 2n ** 256n - 1n })
  assert.equal(readTransferCall(concatBytes(call, Uint8Array.of(0))), null)
  assert.equal(readTransferCall(call.with(0, 1)), null)
  assert.equal(readTransferCall(call.with(5, 1)), null)
})
