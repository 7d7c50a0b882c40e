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

/** The receiving address of a cell, and the key of the relayer that settles its payments. */
export type CellPayments = Pick<X402Settings, 'pay_to' | 'key_file'>

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
  /** Those of the other cells, by number. */
  cells: Readonly<Record<string, CellPayments>>
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
    pay_to: readAddress(env['FLORIN_X402_PAY_TO'] || null, 'FLORIN_X402_PAY_TO is'),
    key_file: env['FLORIN_X402_KEY_FILE'] ? resolve(env['FLORIN_X402_KEY_FILE']) : null,
    cells: readCells(readJson(env, CELLS, {})),
    facilitator_url: readUrl(env, 'FLORIN_X402_FACILITATOR_URL'),
    native_usd: Number(env['FLORIN_X402_NATIVE_USD'] || DEFAULT_NATIVE_USD),
  }
  requireSeparate(x402)
  if (!(x402.native_usd > 0)) throw new ConfigError('FLORIN_X402_NATIVE_USD must be more than 0.')
  if (mode === 'live') requireCollectable(x402)
  return x402
}

function readAddress(value: unknown, subject: string): string | null {
  if (value === null) return null
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value
  throw new ConfigError(`${subject} "${value}"; it must be 0x and 40 digits.`)
}

const CELLS = 'FLORIN_X402_CELLS'

function readCells(cells: unknown): X402Settings['cells'] {
  const invalid = (reason: string) => new ConfigError(`${CELLS}: ${reason}.`)
  if (!isRecord(cells)) throw invalid('it must be an object such as {"1": {"pay_to": "0x…"}}')
  const read = Object.entries(cells).map(([number, cell]): [string, CellPayments] => {
    if (!/^[1-9]\d{0,2}$/.test(number)) throw invalid(`"${number}" is not the number of a cell`)
    if (!isRecord(cell)) throw invalid(`cell ${number} must be an object with pay_to`)
    const { pay_to, key_file = null, ...unknown } = cell
    const [name] = Object.keys(unknown)
    if (name !== undefined) throw invalid(`cell ${number} has the unknown field "${name}"`)
    if (key_file !== null && typeof key_file !== 'string') {
      throw invalid(`the key_file of cell ${number} must be a path`)
    }
    const address = readAddress(pay_to ?? '', `${CELLS}: the pay_to of cell ${number} is`)
    return [number, { pay_to: address, key_file: key_file && resolve(key_file) }]
  })
  return Object.fromEntries(read)
}

/**
 * The signature of a payment names its receiver. With an address of its own in each cell, a payment
 * that was used in one is for no call of another; and relayers never compete for nonces.
 */
function requireSeparate({ pay_to, key_file, cells }: X402Settings): void {
  const all = [{ pay_to, key_file }, ...Object.values(cells)]
  for (const name of ['pay_to', 'key_file'] as const) {
    const values = all.map((one) => one[name]?.toLowerCase()).filter((value) => value !== undefined)
    if (new Set(values).size === values.length) continue
    throw new ConfigError(`${CELLS}: two cells have the same ${name}; each needs its own.`)
  }
}

/** The settings of one cell; its receiver and relayer are null if none is configured. */
export function x402OfCell(x402: X402Settings, number: number): X402Settings {
  return { ...x402, ...(x402.cells[number] ?? { pay_to: null, key_file: null }) }
}

/** Refuses prices that a cell could not collect. */
export function requirePayableCell(
  { prices, cells, facilitator_url }: X402Settings,
  number: number,
): void {
  const own = cells[number]
  if (prices.size === 0) return
  if (own === undefined) throw new ConfigError(`${CELLS} has no pay_to for cell ${number}.`)
  if (own.key_file !== null || facilitator_url !== null) return
  throw new ConfigError(`${CELLS} has no key_file for cell ${number}.`)
}

function readUrl(env: Environment, name: string): string | null {
  const url = env[name] || null
  if (url === null || (URL.canParse(url) && /^https?:/.test(url))) {
    return url?.replace(/\/+$/, '') ?? null
  }
  throw new ConfigError(`${name} is "${url}"; it must be an http or https address.`)
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
