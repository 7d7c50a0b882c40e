import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Secret } from '#kernel/secret.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { publicKeyOnToken, signOnToken } from '#platform/storage/pkcs11.ts'
import type { TokenSettings } from '#platform/storage/pkcs11_settings.ts'
import type { ChainFamily } from '#rails/chain/derive.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { recoverableSignature } from '#rails/chain/signing_key.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { APPROVAL_PURPOSE } from '#rails/signer/intent.ts'
import {
  type IntentStore,
  InvalidRecord,
  openIntentStore,
  type RecordFiles,
} from '#rails/signer/intent_store.ts'
import { type SignerServer, serveSigner } from '#rails/signer/server.ts'
import { makeSigner } from '#rails/signer/signer.ts'
import { policyFrom } from '#rails/signer/signer_settings.ts'
import { type HotKey, type HotKeys, walletFromPhrase } from '#rails/signer/wallet.ts'
import type { Settings } from '#settings/settings.ts'

/** The signer process: the only one with the seed. It has its own clock, record and policy. */
export async function startSignerRole(
  settings: Settings,
  phrase: Secret<string>,
  { create = false, onFault }: { create?: boolean; onFault?: (cause: unknown) => void } = {},
): Promise<SignerServer> {
  mkdirSync(settings.data_dir, { recursive: true })
  const seal = sealFor(settings.key_token, systemRandom)
  const keys = await loadKeys(settings.key_file, systemRandom, seal)
  const hot_keys = hotKeysOf(settings)
  requireHotKeys(hot_keys, cellsOf(settings))
  const wallet = walletFromPhrase(phrase, hot_keys)
  const store = openRecordFile({
    path: join(settings.data_dir, 'signer_intents.jsonl'),
    mark_path: settings.signer_mark_file,
    key: wallet.recordKey(),
    create,
  })
  const clock = systemClock()
  const signer = makeSigner({
    wallet,
    policy: policyFrom(settings.signer_policy, settings.chains),
    store,
    approvalKeys: () => {
      // Read for each payment, because a rotation may have added a root.
      keys.refreshSync()
      return keys.materials(APPROVAL_PURPOSE, 32)
    },
    now_ms: () => clock.wall().getTime(),
  })
  const server = await serveSigner(signer, settings.signer_socket, onFault)
  return {
    stop: async () => {
      await server.stop()
      store.close()
    },
  }
}

function openRecordFile(files: RecordFiles): IntentStore {
  try {
    return openIntentStore(files)
  } catch (cause) {
    throw cause instanceof InvalidRecord ? new ConfigError(cause.message) : cause
  }
}

/** The hot wallets by the number of their cell. */
export type PublicWallet = { family: ChainFamily; xpub: string; hot_wallets: readonly string[] }

/** The hot wallets' keys in the hardware token, if they are configured. */
export function hotKeysOf({ key_token }: { key_token: TokenSettings | null }): HotKeys {
  if (key_token === null) return new Map()
  const ids = Object.entries(key_token.signer_key_ids)
  return new Map(ids.map(([cell, id]) => [Number(cell), hotKeyOf(key_token, id)]))
}

function hotKeyOf(key_token: TokenSettings, key_id: string): HotKey {
  const public_key = publicKeyOnToken(key_token, key_id)
  const sign = (hash: Uint8Array) =>
    recoverableSignature(signOnToken(key_token, key_id, hash), hash, public_key)
  return { public_key, sign }
}

/** Includes cells for which a chain names a hot wallet, because the signer pays from it. */
function cellsOf({ more_cells, chains }: Settings): number[] {
  const paying = chains.flatMap(({ hot_wallets }) => Object.keys(hot_wallets).map(Number))
  return [...more_cells.map(({ number }) => number), ...paying]
}

/** A cell without a key would be noticed only by its first withdrawal. */
function requireHotKeys(hot_keys: HotKeys, cells: readonly number[]): void {
  const missing = cells.find((cell) => hot_keys.size > 0 && !hot_keys.has(cell))
  if (missing === undefined) return
  throw new ConfigError(
    `The hot wallet of cell ${missing} has no key in the token. Name it in ` +
      'FLORIN_PKCS11_SIGNER_KEY_IDS.',
  )
}

/** The extended public key for deposits and the hot wallets' addresses; no private key. */
export function publicWalletsOf(
  phrase: Secret<string>,
  hot_keys: HotKeys = new Map(),
  cells = 1,
): PublicWallet[] {
  requireHotKeys(hot_keys, [...Array(cells).keys()])
  const wallet = walletFromPhrase(phrase, hot_keys)
  const spellings = { tron: tronAddressFromBytes, evm: evmAddressFromBytes } as const
  return (['tron', 'evm'] as const).map((family) => ({
    family,
    xpub: wallet.xpub(family),
    hot_wallets: Array.from({ length: cells }, (_, cell) =>
      spellings[family](Buffer.from(wallet.addressOf(family, null, cell), 'hex')),
    ),
  }))
}
