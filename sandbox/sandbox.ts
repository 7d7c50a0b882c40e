import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Surface } from '#domain/context/surface.ts'
import { microsFromUsd } from '#kernel/money.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import { CHAIN_DEFAULTS, type ChainSettings } from '#rails/chain/chain_settings.ts'
import type { Settings } from '#settings/settings.ts'
import { sandboxCards } from './cards.ts'
import { sandboxCases } from './cases.ts'
import { Journal } from './journal.ts'
import { type Payments, startPayments } from './payments.ts'
import type { SandboxSigner, StartSigner } from './signer.ts'
import { FINAL_BLOCKS, sandboxTopups } from './topups.ts'
import type { TronChange, TronSnapshot } from './tron_node/snapshot.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from './tron_node.ts'
import { sandboxWithdrawals } from './withdrawals.ts'

/** The sandbox's chain and signer, and the settings that point at them. */
export type Sandbox = {
  settings: Settings
  surfaces: readonly Surface[]
  node: TronNode
  /** The network for x402 payments; idle if no operation has a price. */
  payments: Payments
  stop(): Promise<void>
}

/** `now_ms` is the service's time, so blocks follow when its clock is advanced. */
type SandboxDependencies = {
  settings: Settings
  now_ms(): number
  /** The real time, which the clock control does not change; signatures expire by it. */
  wall_ms(): number
  every: Clock['every']
  startSigner: StartSigner
}

const BLOCK_INTERVAL_MS = 3_000
const CHAIN_ID = 728_126_428
/** The longest socket path that every operating system supports. */
const SOCKET_PATH_MAX = 100
/** The interval of saves without a request; the node itself saves final blocks. */
const SAVE_EVERY_MS = 3_000

/**
 * Starts the sandbox's chain and a signer with its own seed. Both keep their state in the data
 * folder, so a restart finds the same balances, addresses and blocks.
 */
export async function startSandbox(dependencies: SandboxDependencies): Promise<Sandbox> {
  const { data_dir, key_file, key_token } = dependencies.settings
  const more_cells = dependencies.settings.more_cells.map(({ number }) => number)
  mkdirSync(data_dir, { recursive: true })
  const signer = await dependencies.startSigner({ data_dir, key_file, key_token, more_cells })
  const { node, save, stop: stopNode } = await startNode(dependencies, signer)
  const payments = await startPayments(dependencies)
  const settings = { ...withSandboxChain(dependencies.settings, node, signer), x402: payments.x402 }
  await signer.serve({ chains: settings.chains, socket: settings.signer_socket })
  return {
    settings,
    node,
    surfaces: [
      sandboxTopups(node, save),
      sandboxWithdrawals(node, save),
      sandboxCards,
      sandboxCases,
    ],
    payments,
    stop: async () => {
      await signer.stop()
      await payments.stop()
      await stopNode()
    },
  }
}

async function startNode(
  { settings, now_ms, every }: SandboxDependencies,
  { hot_wallet, hot_wallets }: SandboxSigner,
) {
  const path = join(settings.data_dir, 'tron_node.json')
  const journal = new Journal<TronSnapshot, TronChange>(path)
  const saved = journal.read()
  const node = await startTronNode({
    now: now_ms,
    block_interval_ms: BLOCK_INTERVAL_MS,
    chain_id: CHAIN_ID,
    ...saved,
    persist: (change, snapshot) => journal.append(change, snapshot),
  })
  if (saved === null) endow(node, hot_wallet)
  for (const wallet of Object.values(hot_wallets)) {
    // A cell may be added to a sandbox that exists.
    if (node.balanceOf(wallet) === 0n) endow(node, wallet)
  }
  node.save()
  let saved_count = node.transferCount()
  const stopSaving = every(SAVE_EVERY_MS, () => {
    const count = node.transferCount()
    if (count !== saved_count) node.save()
    saved_count = count
  })
  const stop = async () => {
    stopSaving()
    node.save()
    await node.stop()
  }
  return { node, save: node.save, stop }
}

/** The sandbox's float, which pays withdrawals before the first sweep. */
const FLOAT_USD = 10_000_000

/** Funds the hot wallet with the float and its network fees, in final blocks. */
function endow(node: TronNode, hot_wallet: string): void {
  node.fundTrx({ to: hot_wallet, amount_sun: 1_000_000_000_000n })
  node.transferUsdt({ to: hot_wallet, amount_micros: microsFromUsd(FLOAT_USD) })
  node.mine(FINAL_BLOCKS + 1)
}

function withSandboxChain(
  settings: Settings,
  node: TronNode,
  { xpub, hot_wallet, hot_wallets }: SandboxSigner,
): Settings {
  const float_usd = FLOAT_USD * (1 + Object.keys(hot_wallets).length)
  const tron: ChainSettings = {
    ...CHAIN_DEFAULTS,
    chain: 'tron',
    family: 'tron',
    url: node.url,
    xpub,
    hot_wallet,
    hot_wallets,
    assets: [{ asset: 'USDT', contract: USDT_ADDRESS, decimals: 6, float_usd }],
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
