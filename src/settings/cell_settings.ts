import { CELLS_MAX } from '#kernel/cell.ts'
import { Secret } from '#kernel/secret.ts'
import { isPostgresUrl, placeOf } from '#platform/postgres/database_url.ts'
import {
  DEFAULT_SCHEMA,
  isSchemaName,
  optionsOf,
  schemaOf,
  searchPathOf,
  withSchema,
} from '#platform/postgres/schema.ts'
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

/** A database, or a schema of one, with all tables and a share of the accounts. */
export type CellDatabase = {
  number: number
  /** Names the schema too. */
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
const FIELDS = new Set(['number', 'url', 'account_url', 'schema'])

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
    const same = earlier.find((one) => isSameTables(one.url, url))
    if (same === undefined) continue
    const shared = `the same database${schemaOf(url.open()) === null ? '' : ' and schema'}`
    throw invalid(`gives the cells ${same.number} and ${number} ${shared}`)
  }
  const first = cells.find(({ number }) => number === 0)
  const more_cells = cells.filter(({ number }) => number !== 0)
  const { database_url } = databases
  if (more_cells.some(({ url }) => database_url !== null && isSameTables(url, database_url))) {
    throw invalid(
      'lists the database of FLORIN_DATABASE_URL, which is cell 0; another cell there needs a ' +
        'schema of its own',
    )
  }
  const serve_cells = readServed(env, more_cells)
  if (database_url !== null && !hasOneSchema(database_url, databases.account_database_url)) {
    throw new ConfigError(
      'FLORIN_DATABASE_URL and FLORIN_ACCOUNT_DATABASE_URL name different schemas.',
    )
  }
  if (first === undefined) return { ...databases, cell: 0, more_cells, serve_cells }
  if (database_url !== null) {
    throw invalid('lists cell 0, so remove FLORIN_DATABASE_URL')
  }
  const { url, account_url: account_database_url } = first
  return { database_url: url, account_database_url, cell: 0, more_cells, serve_cells }
}

/** Two logins may lead to the same tables. */
const isSameTables = (one: Secret, other: Secret): boolean =>
  placeOf(one.open()) === placeOf(other.open()) && schemaOf(one.open()) === schemaOf(other.open())

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
  const schema = readSchema(entry['schema'] ?? DEFAULT_SCHEMA, where)
  if (!Number.isInteger(number) || Number(number) < 0 || Number(number) >= CELLS_MAX) {
    throw invalid(`${where} needs a number from 0 to ${CELLS_MAX - 1}`)
  }
  const cell = {
    number: Number(number),
    url: readUrl(url, schema, `the url of ${where}`),
    account_url:
      account_url === null ? null : readUrl(account_url, schema, `the account_url of ${where}`),
  }
  if (hasOneSchema(cell.url, cell.account_url)) return cell
  throw invalid(`the url and the account_url of ${where} name different schemas`)
}

/** Account holders must find the rows that the service has written. */
const hasOneSchema = (url: Secret, account_url: Secret | null): boolean =>
  account_url === null || schemaOf(account_url.open()) === schemaOf(url.open())

const SCHEMA_RULE =
  '1 to 63 lower-case letters, digits and underscores, and not begin with a digit or pg_'

function readSchema(value: unknown, where: string): string {
  if (typeof value === 'string' && isSchemaName(value)) return value
  throw invalid(`the schema of ${where} must be ${SCHEMA_RULE}`)
}

function readUrl(value: unknown, schema: string, what: string): Secret {
  if (typeof value !== 'string' || !isPostgresUrl(value)) {
    throw invalid(`${what} is not an address of the form postgres://…`)
  }
  const options = optionsOf(value)
  if (schema !== DEFAULT_SCHEMA && options === '') return new Secret(withSchema(value, schema))
  if (schema !== DEFAULT_SCHEMA) {
    throw invalid(`${what} has options; add "-c search_path=${schema}" there and remove the schema`)
  }
  if (isSchemaName(searchPathOf(value) ?? DEFAULT_SCHEMA)) return new Secret(value)
  throw invalid(`the search_path in ${what} must be ${SCHEMA_RULE}`)
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
