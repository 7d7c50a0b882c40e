import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'

/** A chain as the operator configures it. The operator's nodes may be on loopback. */
export type ChainSettings = {
  /** The name in the API: tron, ethereum, base. */
  chain: string
  family: 'tron' | 'evm'
  /** On TRON the base URL, without /wallet, /walletsolidity or /jsonrpc. */
  url: string
  headers: Readonly<Record<string, string>>
  /** A node of another provider that verifies final blocks; null: the same node. */
  audit_url: string | null
  audit_headers: Readonly<Record<string, string>>
  /** Of the account that deposit addresses are derived from; only the signer has private keys. */
  xpub: string
  /** Sends withdrawals and receives swept deposits. */
  hot_wallet: string
  /** The hot wallets of the other cells, by number. */
  hot_wallets: Readonly<Record<string, string>>
  /** The operator's wallets for coins that are not needed soon; they count as custody. */
  cold_wallets: readonly string[]
  assets: readonly AssetSettings[]
  /** The depth a transfer needs; on chains with a finalized tag only shown to callers. */
  confirmations: number
  finality: 'finalized' | 'confirmations'
  /** EIP-155. The node is asked for it first, so responses of another network are rejected. */
  chain_id: number
  /** A deposit address is swept once it holds this much. */
  sweep_min_usd: number
  /** A transfer that is in no block after this time is sent again at a higher price. */
  bump_after_seconds: number
  /** The last block before the first deposit; null: the newest block at the first start. */
  start_block: number | null
}

export type AssetSettings = {
  asset: string
  contract: string
  /** Must equal the contract's decimals(). Money is micro-dollars, so only 6 is supported. */
  decimals: number
  /** The operator's own coins in the hot wallet, which pay withdrawals before sweeps. */
  float_usd?: number
}

const ASSET_DECIMALS = 6

export const CHAIN_DEFAULTS = {
  headers: {},
  audit_url: null,
  audit_headers: {},
  hot_wallets: {},
  cold_wallets: [],
  confirmations: 19,
  finality: 'finalized',
  sweep_min_usd: 100,
  bump_after_seconds: 180,
  start_block: null,
} as const satisfies Partial<ChainSettings>

const REQUIRED_FIELDS = [
  'chain',
  'family',
  'url',
  'xpub',
  'hot_wallet',
  'assets',
  'chain_id',
] as const

/** FLORIN_CHAINS is a JSON list; if it is empty, the sandbox adds a chain of its own. */
export function readChainSettings(env: Environment): ChainSettings[] {
  return parseChains(readJson(env, 'FLORIN_CHAINS', []))
}

function invalid(reason: string): ConfigError {
  return new ConfigError(`FLORIN_CHAINS: ${reason}.`)
}

export function parseChains(chains: unknown): ChainSettings[] {
  if (!Array.isArray(chains)) throw invalid('it must be a list of chains')
  for (const chain of chains) requireChain(chain)
  const names = new Set(chains.map(({ chain }) => String(chain)))
  if (names.size !== chains.length) throw invalid('a chain is named twice')
  return chains.map((chain: ChainSettings) => ({
    ...CHAIN_DEFAULTS,
    ...chain,
    assets: chain.assets.map((asset) => ({ ...asset, decimals: ASSET_DECIMALS })),
  }))
}

function requireChain(chain: unknown): void {
  if (!isRecord(chain)) throw invalid('each chain must be an object')
  const missing = REQUIRED_FIELDS.find((name) => chain[name] === undefined)
  if (missing !== undefined) throw invalid(`a chain lacks ${missing}`)
  const known = [...REQUIRED_FIELDS, ...Object.keys(CHAIN_DEFAULTS)]
  const unknown = Object.keys(chain).find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalid(`${unknown} is not a setting of a chain`)
  if (chain['family'] !== 'tron' && chain['family'] !== 'evm')
    throw invalid('family must be tron or evm')
  requireAssets(chain['assets'])
  for (const url of [chain['url'], chain['audit_url'] ?? chain['url']]) {
    if (!URL.canParse(String(url))) throw invalid(`${url} is not a valid node URL`)
  }
}

function requireAssets(assets: unknown): void {
  if (!Array.isArray(assets) || assets.length === 0) throw invalid('assets must be a list')
  for (const { decimals = ASSET_DECIMALS } of assets as Partial<AssetSettings>[]) {
    if (decimals !== ASSET_DECIMALS) {
      throw invalid(`decimals of an asset must be ${ASSET_DECIMALS}`)
    }
  }
  for (const { float_usd = 0 } of assets as Partial<AssetSettings>[]) {
    if (!(typeof float_usd === 'number' && float_usd >= 0))
      throw invalid('float_usd must be an amount')
  }
}
