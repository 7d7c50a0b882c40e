import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { TronWeb } from '#test/packages/tronweb.ts'
import {
  bytesFromTronAddress,
  bytesFromTronHex,
  isTronAddress,
  tronAddressFromBytes,
  tronHexFromBytes,
} from './address.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))
const bytes20 = fc.uint8Array({ minLength: 20, maxLength: 20 })

test('addresses match tronweb and decode to the same bytes', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(bytes20, (bytes) => {
      const hex = `41${bytesToHex(bytes)}`
      const address = tronAddressFromBytes(bytes)
      assert.equal(address, TronWeb.address.fromHex(hex))
      assert.equal(tronHexFromBytes(bytes), hex)
      assert.deepEqual(bytesFromTronAddress(address), bytes)
      assert.deepEqual(bytesFromTronHex(hex), bytes)
      assert.equal(TronWeb.address.toHex(address), hex)
    }),
    { seed, numRuns: 300 },
  )
})

test('validation matches tronweb for addresses with one changed letter', (t) => {
  t.diagnostic(`seed ${seed}`)
  const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl'
  fc.assert(
    fc.property(bytes20, fc.nat(33), fc.constantFrom(...letters), (bytes, at, letter) => {
      const address = tronAddressFromBytes(bytes)
      const changed = address.slice(0, at) + letter + address.slice(at + 1)
      assert.equal(isTronAddress(changed), changed === address)
      if (!/[0OIl]/.test(changed)) assert.equal(isTronAddress(changed), TronWeb.isAddress(changed))
    }),
    { seed, numRuns: 500 },
  )
})

test('no user input makes it throw', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ minLength: 34, maxLength: 34 })), (text) => {
      assert.equal(isTronAddress(text), false)
      assert.equal(bytesFromTronHex(text), null)
    }),
    { seed, numRuns: 500 },
  )
})

test('a valid checksum over a wrong version or length is refused', () => {
  // Bitcoin's address of twenty zero bytes: a sound base58check text with version 0.
  assert.equal(isTronAddress('1111111111111111111114oLvT2'), false)
  assert.equal(isTronAddress(' TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'), false)
  assert.equal(bytesFromTronHex('42a614f803b6fd780986a42c78ec9c7f77e6ded13c'), null)
  assert.equal(bytesFromTronHex('0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c'), null)
})

test("mainnet's USDT contract converts between both formats", () => {
  const hex = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'
  const bytes = bytesFromTronHex(hex)
  assert(bytes !== null)
  assert.equal(tronAddressFromBytes(bytes), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')
  assert.equal(tronHexFromBytes(bytes), hex)
})
