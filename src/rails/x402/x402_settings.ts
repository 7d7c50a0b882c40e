import { resolve } from 'node:path'
import { operations } from '#contract/operations.ts'
import { decimalParts, MICRO_DECIMALS, type Micros } from '#kernel/money.ts'

/** What some operations cost, and where the payments go. */
export type X402Settings = {
  /** By operation; what is not here costs nothing. */
  prices: ReadonlyMap<string, Micros>
  /** A node of the network that payments are made on. */
  rpc_url: string | null
  /** Who receives: an EIP-55 address. */
  pay_to: string | null
  /** The relayer's private key, in hexadecimal. It pays the network's fees and sends refunds. */
  key_file: string | null
  /** Somebody else who settles, instead of our own relayer. */
  facilitator_url: string | null
  /** What one coin of the network's own is worth in the books, for its fees. */
  native_usd: number
}

/** About what ether has cost; only the books' idea of a network fee depends on it. */
const STANDARD_NATIVE_USD = 3_000

type Environment = Readonly<Record<string, string | undefined>>

/** The settings, or a sentence for what is wrong with them. */
export function x402SettingsFrom(env: Environment, given: unknown): X402Settings | string {
  const prices = pricesFrom(given)
  if (typeof prices === 'string') return `FLORIN_PAID_OPERATIONS: ${prices}`
  const pay_to = env['FLORIN_X402_PAY_TO'] || null
  if (pay_to !== null && !/^0x[0-9a-fA-F]{40}$/.test(pay_to)) {
    return `FLORIN_X402_PAY_TO is "${pay_to}"; it must be 0x and 40 digits`
  }
  for (const name of ['FLORIN_X402_RPC_URL', 'FLORIN_X402_FACILITATOR_URL']) {
    const url = env[name] || 'http://none'
    if (!URL.canParse(url) || !/^https?:/.test(url)) {
      return `${name} is "${url}"; it must be a http or https address`
    }
  }
  const native_usd = Number(env['FLORIN_X402_NATIVE_USD'] || STANDARD_NATIVE_USD)
  if (!(native_usd > 0)) return 'FLORIN_X402_NATIVE_USD must be more than 0'
  const urlIn = (name: string) => env[name]?.replace(/\/+$/, '') || null
  return {
    prices,
    rpc_url: urlIn('FLORIN_X402_RPC_URL'),
    pay_to,
    key_file: env['FLORIN_X402_KEY_FILE'] ? resolve(env['FLORIN_X402_KEY_FILE']) : null,
    facilitator_url: urlIn('FLORIN_X402_FACILITATOR_URL'),
    native_usd,
  }
}

/** A price that nobody collects would be worse than a refusal to start. */
export function whyUncollectable(x402: X402Settings): string | null {
  const { prices, rpc_url, pay_to, key_file, facilitator_url } = x402
  if (prices.size === 0) return null
  if (pay_to === null) return 'FLORIN_PAID_OPERATIONS needs FLORIN_X402_PAY_TO'
  if (facilitator_url !== null || (rpc_url !== null && key_file !== null)) return null
  return (
    'FLORIN_PAID_OPERATIONS needs FLORIN_X402_RPC_URL and FLORIN_X402_KEY_FILE, or ' +
    'FLORIN_X402_FACILITATOR_URL'
  )
}

/** USDC's six decimals are the ledger's own, so a price is the same number on the chain. */
function pricesFrom(given: unknown): ReadonlyMap<string, Micros> | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return 'it is not a JSON object of operations and prices'
  }
  const prices = new Map<string, Micros>()
  for (const [name, price] of Object.entries(given)) {
    if (!Object.hasOwn(operations, name)) return `${name} is no operation`
    const micros = microsOf(price)
    if (micros === null) return `${name}: "${price}" is no price such as "0.50"`
    prices.set(name, micros)
  }
  return prices
}

function microsOf(price: unknown): Micros | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null
  const parts = decimalParts(String(price))
  if (parts === null || parts.negative || parts.fraction.length > MICRO_DECIMALS) return null
  const micros = BigInt(parts.whole + parts.fraction.padEnd(MICRO_DECIMALS, '0'))
  return micros > 0n && micros < PRICE_MAX_MICROS ? micros : null
}

/** A million dollars: whoever asks more for a call has lost a decimal point. */
const PRICE_MAX_MICROS = 1_000_000_000_000n
