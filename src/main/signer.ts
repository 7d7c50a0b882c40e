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
import { type HotKey, walletFromPhrase } from '#rails/signer/wallet.ts'
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
  const wallet = walletFromPhrase(phrase, hotKeyOf(settings))
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

/** The hot wallet's key in the hardware token, if one is configured. */
export function hotKeyOf({ key_token }: { key_token: TokenSettings | null }): HotKey | null {
  const key_id = key_token?.signer_key_id ?? null
  if (key_token === null || key_id === null) return null
  const public_key = publicKeyOnToken(key_token, key_id)
  const sign = (hash: Uint8Array) =>
    recoverableSignature(signOnToken(key_token, key_id, hash), hash, public_key)
  return { public_key, sign }
}

/** The extended public key for deposits and the hot wallets' addresses; no private key. */
export function publicWalletsOf(
  phrase: Secret<string>,
  hot_key: HotKey | null = null,
  cells = 1,
): PublicWallet[] {
  const wallet = walletFromPhrase(phrase, hot_key)
  const spellings = { tron: tronAddressFromBytes, evm: evmAddressFromBytes } as const
  return (['tron', 'evm'] as const).map((family) => ({
    family,
    xpub: wallet.xpub(family),
    hot_wallets: Array.from({ length: cells }, (_, cell) =>
      spellings[family](Buffer.from(wallet.addressOf(family, null, cell), 'hex')),
    ),
  }))
}
