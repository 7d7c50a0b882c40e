import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Hex } from 'viem'
import { systemRandom } from '#platform/runtime/random.ts'
import type { CellPayments, X402Settings } from '#rails/x402/x402_settings.ts'
import type { Settings } from '#settings/settings.ts'
import type { EvmChange, EvmSnapshot } from './evm_node/chain.ts'
import type { EvmNode } from './evm_node.ts'
import { Journal } from './journal.ts'

/** The sandbox's network for x402 payments. */
export type Payments = {
  /** The settings; missing ones point at the sandbox's node. */
  x402: X402Settings
  /** Null if nothing has a price or another node is configured. */
  node: EvmNode | null
  stop(): Promise<void>
}

type PaymentDependencies = { settings: Settings; wall_ms(): number }

/** The relayer's ether for fees and the demo payer's coins. */
const RELAYER_WEI = 10n ** 18n
const PAYER_MICROS = 1_000_000_000n

export const PAYER_KEY_FILE = 'x402_payer.key'
/** Contains the node's URL, because its port differs at each start. */
const RPC_URL_FILE = 'x402_rpc_url'
const RELAYER_KEY_FILE = 'x402_relayer.key'

/**
 * Starts a node with a funded relayer and a funded payer if prices are set and no other node is
 * configured. Without prices it does nothing.
 */
export async function startPayments({ settings, wall_ms }: PaymentDependencies): Promise<Payments> {
  const { data_dir } = settings
  const stop = async () => undefined
  if (settings.x402.prices.size === 0) return { x402: settings.x402, node: null, stop }
  const { privateKeyToAccount } = await import('viem/accounts')
  const addressIn: AddressIn = (path) =>
    privateKeyToAccount(readFileSync(path, 'utf8').trim() as Hex).address
  const x402 = withRelayers(settings, addressIn)
  if (x402.rpc_url !== null) return { x402, node: null, stop }

  const path = join(data_dir, 'evm_node.json')
  const { startEvmNode } = await import('./evm_node.ts')
  const journal = new Journal<EvmSnapshot, EvmChange>(path)
  const saved = journal.read()
  const node = await startEvmNode({
    now: wall_ms,
    ...saved,
    persist: (change, snapshot) => journal.append(change, snapshot),
  })
  writeFileSync(join(data_dir, RPC_URL_FILE), `${node.url}\n`)
  const payer = addressIn(keyFile(join(data_dir, PAYER_KEY_FILE)))
  if (saved === null) node.mint(payer, PAYER_MICROS)
  for (const { key_file } of [x402, ...Object.values(x402.cells)]) {
    const relayer = key_file === null ? null : addressIn(key_file)
    // A cell may be added to a sandbox that exists.
    if (relayer !== null && node.weiOf(relayer) === 0n) node.fund(relayer, RELAYER_WEI)
  }
  node.save()
  return { x402: { ...x402, rpc_url: node.url }, node, stop: node.stop }
}

type AddressIn = (key_file: string) => Hex

/** Each cell has a relayer, which also receives its payments. */
function withRelayers(
  { x402, data_dir, more_cells }: Settings,
  addressIn: AddressIn,
): X402Settings {
  const filled = (given: Partial<CellPayments>, name: string): CellPayments => {
    const key_file = given.key_file ?? keyFile(join(data_dir, name))
    return { key_file, pay_to: given.pay_to ?? addressIn(key_file) }
  }
  const others = more_cells.map(({ number }) => [
    number,
    filled(x402.cells[number] ?? {}, `x402_relayer_${number}.key`),
  ])
  return { ...x402, ...filled(x402, RELAYER_KEY_FILE), cells: Object.fromEntries(others) }
}

/** Created at the first start; for sandbox money only. */
function keyFile(path: string): string {
  if (!existsSync(path)) {
    writeFileSync(path, `0x${bytesToHex(systemRandom.bytes(32))}\n`, { mode: 0o600 })
  }
  return path
}
