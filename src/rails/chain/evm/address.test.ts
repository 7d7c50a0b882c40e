import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { getAddress } from 'viem'
import {
  bytesFromEvmAddress,
  evmAddressFromBytes,
  evmAddressFromHex,
  isEvmAddress,
} from './address.ts'

const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31 - 1))

test('addresses match viem and decode to the same bytes', (t) => {
  t.diagnostic(`seed ${seed}`)
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const address = evmAddressFromBytes(bytes)
      assert.equal(address, getAddress(`0x${bytesToHex(bytes)}`))
      assert.deepEqual(bytesFromEvmAddress(address), bytes)
      assert.equal(evmAddressFromHex(`0x${bytesToHex(bytes)}`), address)
    }),
    { seed, numRuns: 300 },
  )
})

test('an address without a valid EIP-55 checksum is refused', () => {
  const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
  assert.equal(isEvmAddress(address), true)
  assert.equal(isEvmAddress(address.toLowerCase()), false)
  assert.equal(isEvmAddress(address.replace('Fd6', 'fd6')), false)
  assert.equal(isEvmAddress(address.slice(2)), false)
  assert.equal(isEvmAddress(`${address}0`), false)
  assert.equal(evmAddressFromHex('0xf39'), null)
})
