import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import { recoverTransactionAddress } from 'viem'
import { idMaker } from '#kernel/id.ts'
import { Secret } from '#kernel/secret.ts'
import { hotKeysOf, publicWalletsOf, startSignerRole } from '#main/signer.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { referenceOf, signerOf, signTransaction } from '#rails/chain/tron/transaction.ts'
import { signerClient } from '#rails/signer/client.ts'
import { APPROVAL_PURPOSE, approvalOf } from '#rails/signer/intent.ts'
import { signEvmTransfer } from '#rails/signer/sign_evm_transfer.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { readSettings } from '#settings/settings.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'
import { startSoftHsm } from '#test/support/soft_hsm.ts'

const PHRASE = new Secret('test test test test test test test test test test test junk')
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const RECEIVER = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'
/** Enough that both recovery ids and both halves of s occur. */
const SIGNATURES = 16

test("with a key in a PKCS#11 token the hot wallet's transfers are signed by the token", async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  hsm.makeSigningKey('05')
  hsm.makeSigningKey('06')
  const env: Record<string, string> = {
    ...hsm.envFor('01'),
    FLORIN_PKCS11_SIGNER_KEY_ID: '05',
    FLORIN_PKCS11_SIGNER_KEY_IDS: '{"1":"06"}',
  }
  // pkcs11-tool, which the process starts, finds the software token by this variable.
  process.env['SOFTHSM2_CONF'] = env['SOFTHSM2_CONF']
  const hot_keys = hotKeysOf(readSettings(env))
  const wallet = walletFromPhrase(PHRASE, hot_keys)
  const seeded = walletFromPhrase(PHRASE)
  const hot = wallet.addressOf('tron', null)
  assert.notEqual(hot, seeded.addressOf('tron', null), 'it is not the address of the seed')
  assert.equal(wallet.addressOf('tron', 3), seeded.addressOf('tron', 3), 'deposits stay derived')

  assert.notEqual(wallet.addressOf('tron', null, 1), hot, 'each cell has a key of its own')
  for (let at = 0; at < SIGNATURES; at += 1) {
    const cell = at % 2
    const owner = hexToBytes(wallet.addressOf('tron', null, cell))
    const { txid, signature } = signTransaction(
      {
        ...referenceOf({ number: 1, id: '00'.repeat(32) }),
        expiration_ms: 1_800_000_000_000 + at,
        timestamp_ms: 1_799_999_000_000,
        fee_limit_sun: 0n,
        contract: { type: 'TransferContract', owner, to: owner, amount_sun: 1n },
      },
      wallet.keyOf('tron', null, cell),
    )
    assert.deepEqual(signerOf(txid, signature), owner)
    const facts = { gas: '21000', max_fee_per_gas: '9', max_priority_fee_per_gas: '1' }
    const { raw } = signEvmTransfer(
      { to: `0x${'11'.repeat(20)}`, amount: '5', contract: null } as never,
      { family: 'evm', chain_id: 8453, nonce: at, ...facts } as never,
      wallet.keyOf('evm', null, cell),
    )
    const from = await recoverTransactionAddress({ serializedTransaction: `0x02${raw.slice(2)}` })
    assert.equal(from.toLowerCase(), `0x${wallet.addressOf('evm', null, cell)}`)
  }

  const { output, code } = await florin(['signer', '--show', '--cells', '2'], env, PHRASE.open())
  assert.equal(code, 0, output)
  for (const { hot_wallets } of publicWalletsOf(PHRASE, hot_keys, 2)) {
    assert.equal(hot_wallets.filter((wallet) => output.includes(wallet)).length, 2)
  }
  const third = await florin(['signer', '--show', '--cells', '3'], env, PHRASE.open())
  assert.notEqual(third.code, 0)
  assert.match(third.output, /The hot wallet of cell 2 has no key in the token/)
})

test('the signer pays from the token key of the cell that a withdrawal names', async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  hsm.makeKey('01')
  hsm.makeSigningKey('05')
  hsm.makeSigningKey('06')
  const env: Record<string, string> = { ...hsm.envFor('01'), FLORIN_DATA_DIR: folder.path }
  process.env['SOFTHSM2_CONF'] = env['SOFTHSM2_CONF']
  const tokens = {
    FLORIN_PKCS11_SIGNER_KEY_ID: '05',
    FLORIN_PKCS11_SIGNER_KEY_IDS: '{"1":"06"}',
  }
  const [tron] = publicWalletsOf(PHRASE, hotKeysOf(readSettings({ ...env, ...tokens })), 2)
  assert(tron !== undefined)
  const [hot_wallet, second = ''] = tron.hot_wallets
  const chain = {
    ...{ chain: 'tron', family: 'tron', url: 'http://127.0.0.1:9', xpub: tron.xpub, hot_wallet },
    ...{ hot_wallets: { 1: second }, chain_id: 1, assets: [{ asset: 'USDT', contract: USDT }] },
  }
  const chains = { ...env, FLORIN_CHAINS: JSON.stringify([chain]) }
  const unnamed = readSettings({ ...chains, FLORIN_PKCS11_SIGNER_KEY_ID: '05' })
  await assert.rejects(startSignerRole(unnamed, PHRASE), /cell 1 has no key in the token/)

  const settings = readSettings({ ...chains, ...tokens })
  const signer = await startSignerRole(settings, PHRASE, { create: true })
  after(signer.stop)
  const keys = await loadKeys(
    settings.key_file,
    systemRandom,
    sealFor(settings.key_token, systemRandom),
  )
  const [approval_key] = keys.materials(APPROVAL_PURPOSE, 32)
  assert(approval_key !== undefined)
  const client = signerClient(settings.signer_socket, systemClock())
  for (const cell of [0, 1]) {
    const plain = {
      id: idMaker(systemRandom.bytes, cell)('wd', Date.now()),
      attempt: 1,
      purpose: 'withdrawal',
      chain: 'tron',
      contract: USDT,
      deposit_index: null,
      to: RECEIVER,
      amount: '500',
      network: {
        family: 'tron',
        reference: { number: 100, id: '0000000000000064'.padEnd(64, 'ab') },
        fee_limit_sun: '20000000',
      },
    } as const
    const outcome = await client.sign({ ...plain, approval: approvalOf(approval_key, plain) })
    assert(outcome.ok, JSON.stringify(outcome))
    const { txid, signature } = outcome.transfer
    const from = signerOf(txid, signature)
    assert.equal(from && tronAddressFromBytes(from), tron.hot_wallets[cell])
  }
})

test('a hot wallet key that the token does not have is refused with its id', async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  const env = { ...hsm.envFor('01'), FLORIN_PKCS11_SIGNER_KEY_ID: '06' }
  const { output, code } = await florin(['signer', '--show'], env, PHRASE.open())
  assert.notEqual(code, 0)
  assert.match(output, /could not read the public key with the key 06/)
})
