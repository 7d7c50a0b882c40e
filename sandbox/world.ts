import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hexToBytes } from '@noble/hashes/utils.js'
import { entropyToMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { microsFromUsd } from '#kernel/money.ts'
import { Secret } from '#kernel/secret.ts'
import { CHAIN_STANDARDS, type ChainSettings } from '#platform/chain_settings.ts'
import type { Clock } from '#platform/clock.ts'
import type { Settings } from '#platform/config.ts'
import { loadKeys } from '#platform/keys.ts'
import type { Random } from '#platform/random.ts'
import type { Surface } from '#platform/surface.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { APPROVAL_PURPOSE } from '#rails/signer/intent.ts'
import { openIntentStore } from '#rails/signer/intent_store.ts'
import { policyFrom } from '#rails/signer/policy_settings.ts'
import { serveSigner } from '#rails/signer/server.ts'
import { makeSigner } from '#rails/signer/signer.ts'
import { type Wallet, walletFromPhrase } from '#rails/signer/wallet.ts'
import { sandboxCards } from './cards.ts'
import { sandboxCases } from './cases.ts'
import { FINAL_BLOCKS, sandboxTopups } from './topups.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from './tron_node.ts'
import { sandboxWithdrawals } from './withdrawals.ts'

/** The chain and the signer that the sandbox brings, and the settings that point at them. */
export type SandboxWorld = {
  settings: Settings
  surfaces: readonly Surface[]
  node: TronNode
  wallet: Wallet
  stop(): Promise<void>
}

/** `now_ms` is the service's own time: when its clock is moved, blocks and signer move with it. */
type Parts = { settings: Settings; now_ms(): number; every: Clock['every']; random: Random }

/** Far above what the programme's own limits let through. */
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

const BLOCK_INTERVAL_MS = 3_000
const CHAIN_ID = 728_126_428
/** The longest path that every system takes for a socket. */
const SOCKET_PATH_MAX = 100
const SAVE_EVERY_MS = 3_000
/** A chain without transfers changes only in its height, which a restart works out by itself. */
const SAVE_IDLE_BEATS = 20

/**
 * Starts the sandbox's chain and an in-process signer with a seed of its own. Both keep their state
 * beside the data, so that a restart finds the same balances, addresses and blocks.
 */
export async function startSandboxWorld(parts: Parts): Promise<SandboxWorld> {
  const { now_ms, random } = parts
  const { data_dir, key_file } = parts.settings
  mkdirSync(data_dir, { recursive: true })
  const wallet = walletFromPhrase(sandboxPhrase(data_dir, random))
  const { node, save, stop: stopNode } = await startNode(parts, wallet)
  const settings = pointedAt(parts.settings, node, wallet)
  const approval_key = (await loadKeys(key_file, random)).material(APPROVAL_PURPOSE, 32)
  const store = openIntentStore(join(data_dir, 'signer_intents.jsonl'))
  const policy = policyFrom(SANDBOX_POLICY, settings.chains)
  const signer = makeSigner({ wallet, policy, store, approval_key, now_ms })
  const server = await serveSigner(signer, settings.signer_socket)
  return {
    settings,
    node,
    wallet,
    surfaces: [
      sandboxTopups(node, save),
      sandboxWithdrawals(node, save),
      sandboxCards,
      sandboxCases,
    ],
    stop: async () => {
      await server.stop()
      store.close()
      await stopNode()
    },
  }
}

async function startNode({ settings, now_ms, every }: Parts, wallet: Wallet) {
  const path = join(settings.data_dir, 'tron_node.json')
  const isOld = existsSync(path)
  const node = await startTronNode({
    now: now_ms,
    block_interval_ms: BLOCK_INTERVAL_MS,
    chain_id: CHAIN_ID,
    ...(isOld ? { snapshot: JSON.parse(readFileSync(path, 'utf8')) } : {}),
  })
  if (!isOld) endow(node, hotWalletOf(wallet))
  const save = () => {
    writeFileSync(`${path}.new`, JSON.stringify(node.snapshot()))
    renameSync(`${path}.new`, path)
  }
  let saved_count = -1
  let idle_beats = 0
  const stopSaving = every(SAVE_EVERY_MS, () => {
    const count = node.transferCount()
    idle_beats = count === saved_count ? idle_beats + 1 : SAVE_IDLE_BEATS
    if (idle_beats < SAVE_IDLE_BEATS) return
    save()
    saved_count = count
    idle_beats = 0
  })
  const stop = async () => {
    stopSaving()
    save()
    await node.stop()
  }
  return { node, save, stop }
}

const hotWalletOf = (wallet: Wallet): string =>
  tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', null)))

/** What the sandbox lends its programme, to pay withdrawals from before the first sweep. */
const FLOAT_USD = 10_000_000

/** The float and the means to send it, final from the start. */
function endow(node: TronNode, hot_wallet: string): void {
  node.fundTrx({ to: hot_wallet, amount_sun: 1_000_000_000_000n })
  node.transferUsdt({ to: hot_wallet, amount_micros: microsFromUsd(FLOAT_USD) })
  node.mine(FINAL_BLOCKS + 1)
}

function pointedAt(settings: Settings, node: TronNode, wallet: Wallet): Settings {
  const tron: ChainSettings = {
    ...CHAIN_STANDARDS,
    chain: 'tron',
    family: 'tron',
    url: node.url,
    xpub: wallet.xpub('tron'),
    hot_wallet: hotWalletOf(wallet),
    assets: [{ asset: 'USDT', contract: USDT_ADDRESS, float_usd: FLOAT_USD }],
    chain_id: CHAIN_ID,
  }
  const others = settings.chains.filter(({ chain }) => chain !== 'tron')
  const socket = settings.signer_socket
  return {
    ...settings,
    chains: [tron, ...others],
    signer_socket: Buffer.byteLength(socket) <= SOCKET_PATH_MAX ? socket : shortSocket(socket),
  }
}

function shortSocket(path: string): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return join(tmpdir(), `florin-${name}.sock`)
}

function sandboxPhrase(data_dir: string, random: Random): Secret<string> {
  const path = join(data_dir, 'sandbox_seed')
  if (existsSync(path)) return new Secret(readFileSync(path, 'utf8').trim())
  const phrase = entropyToMnemonic(random.bytes(16), wordlist)
  writeFileSync(path, `${phrase}\n`, { mode: 0o600 })
  return new Secret(phrase)
}
