import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import { recoverTransactionAddress } from 'viem'
import { Secret } from '#kernel/secret.ts'
import { hotKeyOf, publicWalletsOf } from '#main/signer.ts'
import { referenceOf, signerOf, signTransaction } from '#rails/chain/tron/transaction.ts'
import { signEvmTransfer } from '#rails/signer/sign_evm_transfer.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { readSettings } from '#settings/settings.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'
import { startSoftHsm } from '#test/support/soft_hsm.ts'

const PHRASE = new Secret('test test test test test test test test test test test junk')
/** Enough that both recovery ids and both halves of s occur. */
const SIGNATURES = 16

test("with a key in a PKCS#11 token the hot wallet's transfers are signed by the token", async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  hsm.makeSigningKey('05')
  const env: Record<string, string> = {
    ...hsm.envFor('01'),
    FLORIN_PKCS11_SIGNER_KEY_ID: '05',
  }
  // pkcs11-tool, which the process starts, finds the software token by this variable.
  process.env['SOFTHSM2_CONF'] = env['SOFTHSM2_CONF']
  const hot_key = hotKeyOf(readSettings(env))
  assert(hot_key !== null)
  const wallet = walletFromPhrase(PHRASE, hot_key)
  const seeded = walletFromPhrase(PHRASE)
  const hot = wallet.addressOf('tron', null)
  assert.notEqual(hot, seeded.addressOf('tron', null), 'it is not the address of the seed')
  assert.equal(wallet.addressOf('tron', 3), seeded.addressOf('tron', 3), 'deposits stay derived')

  const owner = hexToBytes(hot)
  for (let at = 0; at < SIGNATURES; at += 1) {
    const { txid, signature } = signTransaction(
      {
        ...referenceOf({ number: 1, id: '00'.repeat(32) }),
        expiration_ms: 1_800_000_000_000 + at,
        timestamp_ms: 1_799_999_000_000,
        fee_limit_sun: 0n,
        contract: { type: 'TransferContract', owner, to: owner, amount_sun: 1n },
      },
      wallet.keyOf('tron', null),
    )
    assert.deepEqual(signerOf(txid, signature), owner)
    const facts = { gas: '21000', max_fee_per_gas: '9', max_priority_fee_per_gas: '1' }
    const { raw } = signEvmTransfer(
      { to: `0x${'11'.repeat(20)}`, amount: '5', contract: null } as never,
      { family: 'evm', chain_id: 8453, nonce: at, ...facts } as never,
      wallet.keyOf('evm', null),
    )
    const from = await recoverTransactionAddress({ serializedTransaction: `0x02${raw.slice(2)}` })
    assert.equal(from.toLowerCase(), `0x${wallet.addressOf('evm', null)}`)
  }

  const { output, code } = await florin(['signer', '--show'], env, PHRASE.open())
  assert.equal(code, 0, output)
  for (const { hot_wallets } of publicWalletsOf(PHRASE, hot_key)) {
    assert(output.includes(hot_wallets[0] ?? 'none'))
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
