import { resolve } from 'node:path'
import { operations } from '#contract/operations.ts'
import { decimalParts, MICRO_DECIMALS, type Micros } from '#kernel/money.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'
import type { Mode } from '#platform/settings/server_settings.ts'

/** The prices of operations, and how payments for them are settled. */
export type X402Settings = {
  /** By operation; an operation without an entry is free. */
  prices: ReadonlyMap<string, Micros>
  /** A node of the network that payments are made on. */
  rpc_url: string | null
  /** The EIP-55 address that receives payments. */
  pay_to: string | null
  /** Contains the relayer's private key, in hexadecimal. It pays network fees and sends refunds. */
  key_file: string | null
  /** An external facilitator that settles instead of our own relayer. */
  facilitator_url: string | null
  /** The value of the network's coin in dollars, for booking network fees. */
  native_usd: number
}

/** About the price of ether. Only the booked value of network fees depends on it. */
const DEFAULT_NATIVE_USD = 3_000

/** A million dollars: a higher price is a misplaced decimal point. */
const PRICE_MAX_MICROS = 1_000_000_000_000n

/** The sandbox fills in what its prices need. In live mode an uncollectable price is an error. */
export function readX402Settings(env: Environment, mode: Mode): X402Settings {
  const x402: X402Settings = {
    prices: parsePrices(readJson(env, 'FLORIN_PAID_OPERATIONS', {})),
    rpc_url: readUrl(env, 'FLORIN_X402_RPC_URL'),
    pay_to: env['FLORIN_X402_PAY_TO'] || null,
    key_file: env['FLORIN_X402_KEY_FILE'] ? resolve(env['FLORIN_X402_KEY_FILE']) : null,
    facilitator_url: readUrl(env, 'FLORIN_X402_FACILITATOR_URL'),
    native_usd: Number(env['FLORIN_X402_NATIVE_USD'] || DEFAULT_NATIVE_USD),
  }
  const { pay_to, native_usd } = x402
  if (pay_to !== null && !/^0x[0-9a-fA-F]{40}$/.test(pay_to)) {
    throw new ConfigError(`FLORIN_X402_PAY_TO is "${pay_to}"; it must be 0x and 40 digits.`)
  }
  if (!(native_usd > 0)) throw new ConfigError('FLORIN_X402_NATIVE_USD must be more than 0.')
  if (mode === 'live') requireCollectable(x402)
  return x402
}

function readUrl(env: Environment, name: string): string | null {
  const url = env[name] || null
  if (url === null || (URL.canParse(url) && /^https?:/.test(url))) {
    return url?.replace(/\/+$/, '') ?? null
  }
  throw new ConfigError(`${name} is "${url}"; it must be a http or https address.`)
}

function requireCollectable({ prices, rpc_url, pay_to, key_file, facilitator_url }: X402Settings) {
  if (prices.size === 0) return
  if (pay_to === null) {
    throw new ConfigError('FLORIN_PAID_OPERATIONS needs FLORIN_X402_PAY_TO.')
  }
  if (facilitator_url !== null || (rpc_url !== null && key_file !== null)) return
  throw new ConfigError(
    'FLORIN_PAID_OPERATIONS needs FLORIN_X402_RPC_URL and FLORIN_X402_KEY_FILE, or ' +
      'FLORIN_X402_FACILITATOR_URL.',
  )
}

function parsePrices(prices: unknown): ReadonlyMap<string, Micros> {
  const invalid = (reason: string) => new ConfigError(`FLORIN_PAID_OPERATIONS: ${reason}.`)
  if (!isRecord(prices)) throw invalid('it is not a JSON object of operations and prices')
  const parsed = new Map<string, Micros>()
  for (const [name, price] of Object.entries(prices)) {
    if (!Object.hasOwn(operations, name)) throw invalid(`${name} is not an operation`)
    const micros = parsePrice(price)
    if (micros === null) throw invalid(`${name}: "${price}" is not a valid price (example: "0.50")`)
    parsed.set(name, micros)
  }
  return parsed
}

/** USDC has the ledger's six decimals, so a price is the same number on the chain. */
function parsePrice(price: unknown): Micros | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null
  const parts = decimalParts(String(price))
  if (parts === null || parts.negative || parts.fraction.length > MICRO_DECIMALS) return null
  const micros = BigInt(parts.whole + parts.fraction.padEnd(MICRO_DECIMALS, '0'))
  return micros > 0n && micros < PRICE_MAX_MICROS ? micros : null
}
