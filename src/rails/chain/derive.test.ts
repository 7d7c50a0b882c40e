import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { mnemonicToAccount } from 'viem/accounts'
import { Secret } from '#kernel/secret.ts'
import { TronWeb } from '#test/packages/tronweb.ts'
import { accountXpubFromPhrase, depositAddresses } from './derive.ts'

const PHRASE = `${'test '.repeat(11)}junk`
const phrase = new Secret(PHRASE)

test('the account xpub gives the known deposit addresses', () => {
  const tron = depositAddresses('tron', accountXpubFromPhrase('tron', phrase))
  assert.deepEqual([0, 1, 2].map(tron.at), [
    { index: 0, path: "m/44'/195'/0'/0/0", address: 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6' },
    { index: 1, path: "m/44'/195'/0'/0/1", address: 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C' },
    { index: 2, path: "m/44'/195'/0'/0/2", address: 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA' },
  ])
  const evm = depositAddresses('evm', accountXpubFromPhrase('evm', phrase))
  assert.equal(evm.at(0).address, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
  assert.equal(evm.at(0).path, "m/44'/60'/0'/0/0")
})

test('addresses match wallets with the private keys for high indexes and other accounts', () => {
  for (const account of [0, 1, 7]) {
    const tron = depositAddresses('tron', accountXpubFromPhrase('tron', phrase, account))
    const evm = depositAddresses('evm', accountXpubFromPhrase('evm', phrase, account))
    for (const index of [0, 41, 2 ** 31 - 1]) {
      const { path, address } = tron.at(index)
      assert.equal(path, `m/44'/195'/${account}'/0/${index}`)
      assert.equal(address, TronWeb.fromMnemonic(PHRASE, path).address)
      const wallet = mnemonicToAccount(PHRASE, { accountIndex: account, addressIndex: index })
      assert.equal(evm.at(index).address, wallet.address)
    }
  }
})

test('hardened, negative and fractional indexes are refused', () => {
  const { at } = depositAddresses('tron', accountXpubFromPhrase('tron', phrase))
  for (const index of [2 ** 31, -1, 0.5, Number.NaN]) assert.throws(() => at(index), /index/)
})

test('a private key and an xpub that is not an account are refused', () => {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(PHRASE)).derive("m/44'/195'/0'")
  assert.throws(() => depositAddresses('tron', account.privateExtendedKey), /private key/)
  const branch = account.deriveChild(0).publicExtendedKey
  assert.throws(() => depositAddresses('tron', branch), /account/)
  const soft = account.deriveChild(0).deriveChild(0).publicExtendedKey
  assert.throws(() => depositAddresses('tron', soft), /account/)
})

test('an invalid seed phrase is refused without repeating it', () => {
  const wrong = new Secret(`${'test '.repeat(11)}test`)
  assert.throws(
    () => accountXpubFromPhrase('tron', wrong),
    (error: Error) => !error.message.includes('test'),
  )
})
