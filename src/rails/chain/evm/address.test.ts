import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { bytesFromEvmAddress, evmAddressFromBytes, evmAddressFromHex } from './address.ts'

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
  assert.notEqual(bytesFromEvmAddress(address), null)
  assert.equal(bytesFromEvmAddress(address.toLowerCase()), null)
  assert.equal(bytesFromEvmAddress(address.replace('Fd6', 'fd6')), null)
  assert.equal(bytesFromEvmAddress(address.slice(2)), null)
  assert.equal(bytesFromEvmAddress(`${address}0`), null)
  assert.equal(evmAddressFromHex('0xf39'), null)
})
