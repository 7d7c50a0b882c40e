import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { Secret } from '#kernel/secret.ts'
import { addressBytesOfPrivateKey } from '#rails/chain/public_key.ts'
import { TronWeb, type Types, utils } from '#test/packages/tronweb.ts'
import type { TronContract } from './contract.ts'
import {
  type RawData,
  rawBytes,
  readRawBytes,
  signerOf,
  signTransaction,
  txidOf,
} from './transaction.ts'
import { rawDataFromJson, rawDataJson } from './transaction_json.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

const bytesOf = (count: number) => fc.uint8Array({ minLength: count, maxLength: count })
const amount = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) })
const time_ms = fc.integer({ min: 1, max: 2 ** 41 })

/** With the ordinary prototype, so that deep equality compares the fields alone. */
function plainRecord<Fields>(fields: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> }) {
  return fc.record(fields, { noNullPrototype: true })
}

const contract: fc.Arbitrary<TronContract> = fc.oneof(
  plainRecord({
    type: fc.constant('TriggerSmartContract' as const),
    owner: bytesOf(20),
    contract: bytesOf(20),
    call_value_sun: amount,
    data: fc.uint8Array({ minLength: 4, maxLength: 200 }),
  }),
  plainRecord({
    type: fc.constant('TransferContract' as const),
    owner: bytesOf(20),
    to: bytesOf(20),
    amount_sun: amount,
  }),
  plainRecord({
    type: fc.constant('DelegateResourceContract' as const),
    owner: bytesOf(20),
    receiver: bytesOf(20),
    resource: fc.constantFrom('BANDWIDTH' as const, 'ENERGY' as const),
    balance_sun: amount,
  }),
)

const content: fc.Arbitrary<RawData> = fc.record(
  {
    ref_block_bytes: bytesOf(2),
    ref_block_hash: bytesOf(8),
    expiration_ms: time_ms,
    timestamp_ms: time_ms,
    fee_limit_sun: amount,
    contract,
    permission_id: fc.integer({ min: 1, max: 9 }),
    memo: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      'ref_block_bytes',
      'ref_block_hash',
      'expiration_ms',
      'timestamp_ms',
      'fee_limit_sun',
      'contract',
    ],
  },
)

/** tronweb wants every resource named; a node leaves the default out. */
function forTronweb(raw: RawData): Types.Transaction {
  const json = rawDataJson(raw) as unknown as Types.Transaction['raw_data']
  const value = json.contract[0]?.parameter.value as { resource?: string }
  if (raw.contract.type === 'DelegateResourceContract') value.resource = raw.contract.resource
  return { visible: false, txID: '', raw_data: json, raw_data_hex: '' }
}

test('bytes, txid and signature match tronweb', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const tronweb = new TronWeb({ fullHost: 'http://127.0.0.1:1' })
  await fc.assert(
    fc.asyncProperty(content, bytesOf(32), async (raw, key) => {
      const private_key = key.with(0, 1)
      const transaction = forTronweb(raw)
      const message = utils.transaction.txJsonToPb(transaction)
      assert.equal(
        bytesToHex(rawBytes(raw)),
        utils.transaction.txPbToRawDataHex(message).toLowerCase(),
      )
      const txid = utils.transaction.txPbToTxID(message).replace(/^0x/, '')
      assert.equal(txidOf(rawBytes(raw)), txid)

      const ours = signTransaction(raw, new Secret(private_key))
      const unsigned = { ...transaction, txID: txid, raw_data_hex: bytesToHex(ours.raw) }
      const theirs = utils.crypto.signTransaction(bytesToHex(private_key), unsigned)
      assert.equal(ours.signature, theirs.signature[0]?.toLowerCase())
      assert.equal(ours.txid, txid)
      const signer = addressBytesOfPrivateKey(private_key)
      assert.deepEqual(signerOf(txid, ours.signature), signer)
      assert.equal(
        tronweb.address.fromPrivateKey(bytesToHex(private_key)),
        tronweb.address.fromHex(`41${bytesToHex(signer)}`),
      )
    }),
    { seed, numRuns: 150 },
  )
})

test('encoded transactions decode from bytes and from JSON', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(content, fc.boolean(), (raw, visible) => {
      assert.deepEqual(readRawBytes(rawBytes(raw)), raw)
      const json: unknown = JSON.parse(JSON.stringify(rawDataJson(raw, visible)))
      assert.deepEqual(rawDataFromJson(json, visible), raw)
    }),
    { seed, numRuns: 300 },
  )
})

test('no bytes make the decoder throw, and decoded bytes encode to the same', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(content, fc.nat(), fc.nat(255), (raw, place, byte) => {
      const bytes = rawBytes(raw)
      const changed = bytes.with(place % bytes.length, byte)
      const read = readRawBytes(changed)
      if (read !== null) assert.deepEqual(rawBytes(read), changed)
    }),
    { seed, numRuns: 1000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      readRawBytes(bytes)
    }),
    { seed, numRuns: 1000 },
  )
})

test('no input makes signer recovery throw', (t) => {
  t.diagnostic(`seed ${seed}`)
  const hex = fc.uint8Array({ minLength: 65, maxLength: 65 }).map(bytesToHex)
  fc.assert(
    fc.property(fc.oneof(hex, fc.string()), (signature) => {
      signerOf('00'.repeat(32), signature)
    }),
    { seed, numRuns: 300 },
  )
})
