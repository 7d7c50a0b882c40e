/** A chain as the operator configures it. Nodes are the operator's choice, loopback included. */
export type ChainSettings = {
  /** The name that callers use: tron, ethereum, base. */
  chain: string
  family: 'tron' | 'evm'
  /** Without a path on TRON, where /wallet, /walletsolidity and /jsonrpc stand behind it. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Another node, of another provider, for the second look at final blocks; null asks the same. */
  audit_url: string | null
  audit_headers: Readonly<Record<string, string>>
  /** Of the account that deposit addresses are derived from; private keys are the signer's. */
  xpub: string
  /** Where withdrawals leave from and deposits are swept to. */
  hot_wallet: string
  /** Where the operator keeps coins that are not needed soon; they count as custody. */
  cold_wallets: readonly string[]
  assets: readonly AssetSettings[]
  /** How deep a transfer must be; on chains with a finalized tag it is what callers are told. */
  confirmations: number
  finality: 'finalized' | 'confirmations'
  /** EIP-155; asked of the node at the first look, so that no other network is believed. */
  chain_id: number
  /** What gathers on a deposit address before it is swept. */
  sweep_min_usd: number
  /** A transfer that no block took for so long is offered again at a higher price. */
  bump_after_seconds: number
  /** The last block before the first deposit; null means wherever the chain is at the start. */
  start_block: number | null
}

export type AssetSettings = {
  asset: string
  contract: string
  /** What the contract's decimals() must answer. Money is micro-dollars, so only 6 is supported. */
  decimals: number
  /** What of it in the hot wallet is the operator's own, to pay withdrawals before sweeps. */
  float_usd?: number
}

export const ASSET_DECIMALS = 6

/** What a chain's entry may leave out, by what is usual there. */
export const CHAIN_STANDARDS = {
  headers: {},
  audit_url: null,
  audit_headers: {},
  cold_wallets: [],
  confirmations: 19,
  finality: 'finalized',
  sweep_min_usd: 100,
  bump_after_seconds: 180,
  start_block: null,
} as const satisfies Partial<ChainSettings>

const NEEDED = ['chain', 'family', 'url', 'xpub', 'hot_wallet', 'assets', 'chain_id'] as const

/** Null and a sentence for what is wrong, so that the start can stop with it. */
export function chainSettingsFrom(given: unknown): ChainSettings[] | string {
  if (!Array.isArray(given)) return 'it must be a list of chains'
  const names = new Set<string>()
  for (const entry of given as Record<string, unknown>[]) {
    if (typeof entry !== 'object' || entry === null) return 'each chain is an object'
    const missing = NEEDED.find((name) => entry[name] === undefined)
    if (missing !== undefined) return `a chain lacks ${missing}`
    const known = [...NEEDED, ...Object.keys(CHAIN_STANDARDS)]
    const stray = Object.keys(entry).find((name) => !known.includes(name))
    if (stray !== undefined) return `${stray} is no setting of a chain`
    if (entry['family'] !== 'tron' && entry['family'] !== 'evm') return 'family is tron or evm'
    if (!Array.isArray(entry['assets']) || entry['assets'].length === 0) return 'assets is a list'
    const floats = (entry['assets'] as Partial<AssetSettings>[]).map(
      ({ float_usd = 0 }) => float_usd,
    )
    const decimals = (entry['assets'] as Partial<AssetSettings>[]).map((one) => one.decimals)
    if (!decimals.every((one) => one === undefined || one === ASSET_DECIMALS)) {
      return `decimals of an asset must be ${ASSET_DECIMALS}`
    }
    if (!floats.every((usd) => typeof usd === 'number' && usd >= 0)) return 'float_usd is no amount'
    const { url, audit_url } = entry
    const astray = [url, audit_url ?? url].find((one) => !URL.canParse(String(one)))
    if (astray !== undefined) return `${astray} is no address of a node`
    names.add(String(entry['chain']))
  }
  if (names.size !== given.length) return 'a chain is named twice'
  return given.map((entry: ChainSettings) => ({
    ...CHAIN_STANDARDS,
    ...entry,
    assets: entry.assets.map((one) => ({ ...one, decimals: ASSET_DECIMALS })),
  }))
}
