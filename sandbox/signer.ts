import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hexToBytes } from '@noble/hashes/utils.js'
import { entropyToMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { Secret } from '#kernel/secret.ts'
import type { Random } from '#platform/runtime/random.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import type { TokenSettings } from '#platform/storage/pkcs11_settings.ts'
import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { APPROVAL_PURPOSE } from '#rails/signer/intent.ts'
import { openIntentStore } from '#rails/signer/intent_store.ts'
import { serveSigner } from '#rails/signer/server.ts'
import { makeSigner } from '#rails/signer/signer.ts'
import { policyFrom } from '#rails/signer/signer_settings.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'

/** The sandbox's signer: its public keys, and how to start and stop it. */
export type SandboxSigner = {
  xpub: string
  hot_wallet: string
  /** Those of the other cells, by number. */
  hot_wallets: Readonly<Record<string, string>>
  serve(order: SignerOptions): Promise<void>
  stop(): Promise<void>
}

export type SignerOptions = { chains: readonly ChainSettings[]; socket: string }

/** The folder of its seed and record, and the key file for verifying approvals. */
export type SignerFiles = {
  data_dir: string
  key_file: string
  key_token?: TokenSettings | null
  /** The numbers of the cells besides cell 0. */
  more_cells?: readonly number[]
}
export type StartSigner = (home: SignerFiles) => Promise<SandboxSigner>

/** Far above the service's own limits. */
const SANDBOX_POLICY = {
  withdrawal_max_usd: 1_000_000,
  withdrawals_hourly_max_usd: 100_000_000,
  withdrawals_daily_max_usd: 100_000_000,
  fee_max: '100000000000000000',
  fuel_max: '100000000000000000',
  fuel_daily_max: '100000000000000000000',
  fee_max_wei: '100000000000000000',
  fuel_max_wei: '100000000000000000',
  fuel_daily_max_wei: '100000000000000000000',
}

/** Runs in this process, for tests that start many. `now_ms` is its clock. */
export function signerInProcess(dependencies: { now_ms(): number; random: Random }): StartSigner {
  return async ({ data_dir, key_file, key_token = null, more_cells = [] }) => {
    const wallet = walletFromPhrase(sandboxPhrase(data_dir, dependencies.random))
    const seal = sealFor(key_token, dependencies.random)
    const keys = await loadKeys(key_file, dependencies.random, seal)
    const approvalKeys = () => {
      keys.refreshSync()
      return keys.materials(APPROVAL_PURPOSE, 32)
    }
    const store = openIntentStore({
      path: join(data_dir, 'signer_intents.jsonl'),
      mark_path: join(data_dir, 'signer_mark.json'),
      key: wallet.recordKey(),
      create: true,
    })
    const hotWalletOf = (cell: number) =>
      tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', null, cell)))
    let stopServing = async () => {}
    return {
      xpub: wallet.xpub('tron'),
      hot_wallet: hotWalletOf(0),
      hot_wallets: Object.fromEntries(more_cells.map((cell) => [cell, hotWalletOf(cell)])),
      serve: async ({ chains, socket }) => {
        const policy = policyFrom(SANDBOX_POLICY, chains)
        const { now_ms } = dependencies
        const signer = makeSigner({ wallet, policy, store, approvalKeys, now_ms })
        stopServing = (await serveSigner(signer, socket)).stop
      },
      stop: async () => {
        await stopServing()
        store.close()
      },
    }
  }
}

function sandboxPhrase(data_dir: string, random: Random): Secret<string> {
  const path = join(data_dir, 'sandbox_seed')
  if (existsSync(path)) return new Secret(readFileSync(path, 'utf8').trim())
  const phrase = entropyToMnemonic(random.bytes(16), wordlist)
  writeFileSync(path, `${phrase}\n`, { mode: 0o600 })
  return new Secret(phrase)
}
