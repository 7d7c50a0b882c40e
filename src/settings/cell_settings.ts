import { CELLS_MAX } from '#kernel/cell.ts'
import { Secret } from '#kernel/secret.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
  readList,
} from '#platform/settings/environment.ts'
import type { ServerSettings } from '#platform/settings/server_settings.ts'
import type { ChainSettings } from '#rails/chain/chain_settings.ts'
import { type X402Settings, x402OfCell } from '#rails/x402/x402_settings.ts'

/** A database with the whole schema and a share of the accounts. */
export type CellDatabase = {
  number: number
  url: Secret
  /** A separate login for calls of account holders; null: the one of url. */
  account_url: Secret | null
}

export type CellSettings = {
  /** The cell whose database these settings name. */
  cell: number
  /** The cells besides this installation's first one; empty: everything is in one database. */
  more_cells: readonly CellDatabase[]
}

export type ServedCells = {
  /** The numbers of the cells that this node serves; null: all of them. */
  serve_cells: readonly number[] | null
}

type Rails = { chains: readonly ChainSettings[]; x402: X402Settings }

type Databases = Pick<ServerSettings, 'database_url' | 'account_database_url'>

const NAME = 'FLORIN_CELLS'
const POSTGRES_URL = /^postgres(ql)?:\/\/[^/?]/
const FIELDS = new Set(['number', 'url', 'account_url'])

/**
 * Cell 0 is always there, because it has the directory of all accounts. Its database is either
 * listed or the one of FLORIN_DATABASE_URL.
 */
export function readCells(
  env: Environment,
  databases: Databases,
): CellSettings & ServedCells & Databases {
  const list = readJson(env, NAME, [])
  if (!Array.isArray(list)) throw invalid('must be a JSON list such as [{"number":1,"url":"…"}]')
  const cells = list.map(readCell)
  for (const [at, { number, url }] of cells.entries()) {
    const earlier = cells.slice(0, at)
    if (earlier.some((one) => one.number === number)) throw invalid(`lists cell ${number} twice`)
    const same = earlier.find((one) => one.url.open() === url.open())
    if (same !== undefined) {
      throw invalid(`gives the cells ${same.number} and ${number} the same database`)
    }
  }
  const first = cells.find(({ number }) => number === 0)
  const more_cells = cells.filter(({ number }) => number !== 0)
  if (more_cells.some(({ url }) => url.open() === databases.database_url?.open())) {
    throw invalid('lists the database of FLORIN_DATABASE_URL, which is cell 0')
  }
  const serve_cells = readServed(env, more_cells)
  if (first === undefined) return { ...databases, cell: 0, more_cells, serve_cells }
  if (databases.database_url !== null) {
    throw invalid('lists cell 0, so remove FLORIN_DATABASE_URL')
  }
  const { url: database_url, account_url: account_database_url } = first
  return { database_url, account_database_url, cell: 0, more_cells, serve_cells }
}

const SERVED = 'FLORIN_SERVE_CELLS'

/** Null if every cell is listed, because the node then serves all of them. */
function readServed(env: Environment, more_cells: readonly CellDatabase[]): number[] | null {
  const words = readList(env, SERVED)
  const all = [0, ...more_cells.map(({ number }) => number)]
  const unknown = words.find((word) => !all.map(String).includes(word))
  if (unknown !== undefined) {
    throw new ConfigError(`${SERVED} lists "${unknown}", which is not a cell of ${NAME}.`)
  }
  const served = all.filter((number) => words.includes(String(number)))
  return served.length === 0 || served.length === all.length ? null : served
}

/** False for a cell whose calls, card messages and tasks are left to other nodes. */
export const isServed = ({ serve_cells }: ServedCells, number: number): boolean =>
  serve_cells === null || serve_cells.includes(number)

/** An error doesn't repeat the URL, because it may contain a password. */
function readCell(entry: unknown, at: number): CellDatabase {
  const where = `entry ${at + 1}`
  if (!isRecord(entry)) throw invalid(`${where} must be an object with number and url`)
  const unknown = Object.keys(entry).find((name) => !FIELDS.has(name))
  if (unknown !== undefined) throw invalid(`${where} has the unknown field "${unknown}"`)
  const { number, url, account_url = null } = entry
  if (!Number.isInteger(number) || Number(number) < 0 || Number(number) >= CELLS_MAX) {
    throw invalid(`${where} needs a number from 0 to ${CELLS_MAX - 1}`)
  }
  return {
    number: Number(number),
    url: readUrl(url, `the url of ${where}`),
    account_url: account_url === null ? null : readUrl(account_url, `the account_url of ${where}`),
  }
}

function readUrl(value: unknown, what: string): Secret {
  if (typeof value === 'string' && POSTGRES_URL.test(value)) return new Secret(value)
  throw invalid(`${what} is not an address of the form postgres://…`)
}

const invalid = (sentence: string) => new ConfigError(`${NAME}: ${sentence}.`)

/** The settings of one cell: the same ones with its own database, hot wallets and relayer. */
export function settingsOfCell<Given extends CellSettings & Databases & Rails>(
  settings: Given,
  { number, url, account_url }: CellDatabase,
): Given {
  const chains = settings.chains.map((chain) => ({ ...chain, ...walletsOf(chain, number) }))
  const databases = { database_url: url, account_database_url: account_url }
  const x402 = x402OfCell(settings.x402, number)
  return { ...settings, ...databases, cell: number, chains, x402 }
}

/** Cells pay without asking each other, so two of them must not pay from one wallet. */
function walletsOf({ chain, hot_wallet, hot_wallets }: ChainSettings, number: number) {
  const { [number]: own, ...others } = hot_wallets
  if (own === undefined) {
    const command = `florin signer --show --cells ${number + 1}`
    const cure = `\`${command}\` prints it.`
    throw new ConfigError(`FLORIN_CHAINS: ${chain} has no hot wallet for cell ${number}. ${cure}`)
  }
  return { hot_wallet: own, hot_wallets: { ...others, 0: hot_wallet } }
}
