import { resolve } from 'node:path'
import type { Secret } from '#kernel/secret.ts'
import manifest from '#package.json' with { type: 'json' }
import { isPostgresUrl } from '#platform/postgres/database_url.ts'
import {
  ConfigError,
  type Environment,
  readChoice,
  readHttpUrl,
  readNetworks,
  readPort,
  readSecretUrl,
} from './environment.ts'

export type Mode = 'sandbox' | 'live'

/** The process itself: its mode, its HTTP address, its files and its databases. */
export type ServerSettings = {
  version: string
  mode: Mode
  host: string
  port: number
  public_url: string
  /** Addresses and networks of the proxies whose X-Forwarded-For header is trusted. */
  trusted_proxies: readonly string[]
  data_dir: string
  /** Null: the embedded PostgreSQL. */
  database_url: Secret | null
  /** A separate login for calls of account holders; null: the one of database_url. */
  account_database_url: Secret | null
  redis_url: Secret | null
  /** The processes that serve calls and card messages; 1: one process for everything. */
  workers: number
}

const POSTGRES_URL = { isValid: isPostgresUrl, example: 'postgres://…' }
const REDIS_URL = {
  isValid: (url: string) => /^rediss?:\/\/[^/?]/.test(url) && URL.canParse(url),
  example: 'redis://…',
}

export function readMode(env: Environment): Mode {
  return readChoice(env, 'FLORIN_MODE', ['sandbox', 'live'], 'sandbox')
}

export function readServerSettings(env: Environment, mode: Mode, cores: number): ServerSettings {
  const port = readPort(env, 'FLORIN_PORT', 8080)
  return {
    version: manifest.version,
    mode,
    // The sandbox's secrets are public, so it is reachable only from its own machine.
    host: env['FLORIN_HOST'] || (mode === 'sandbox' ? '127.0.0.1' : '0.0.0.0'),
    port,
    public_url: readPublicUrl(env, mode, port),
    trusted_proxies: readNetworks(env, 'FLORIN_TRUSTED_PROXIES'),
    data_dir: resolve(env['FLORIN_DATA_DIR'] || './data'),
    database_url: readSecretUrl(env, 'FLORIN_DATABASE_URL', POSTGRES_URL),
    account_database_url: readSecretUrl(env, 'FLORIN_ACCOUNT_DATABASE_URL', POSTGRES_URL),
    redis_url: readSecretUrl(env, 'REDIS_URL', REDIS_URL),
    workers: readWorkers(env, cores),
  }
}

const WORKERS_MAX = 64

/** More workers would need more connections than a default PostgreSQL allows. */
const DEFAULT_MAX = 8

/** One core is left to the database. A parent and one worker would only add a process. */
const defaultWorkers = (cores: number) => Math.max(1, Math.min(DEFAULT_MAX, cores - 1))

function readWorkers(env: Environment, cores: number): number {
  const workers = Number(env['FLORIN_WORKERS'] || defaultWorkers(cores))
  if (Number.isInteger(workers) && workers >= 1 && workers <= WORKERS_MAX) return workers
  const value = env['FLORIN_WORKERS']
  throw new ConfigError(`FLORIN_WORKERS is "${value}"; it must be a number from 1 to 64.`)
}

function readPublicUrl(env: Environment, mode: Mode, port: number): string {
  const public_url = readHttpUrl(env, 'FLORIN_PUBLIC_URL', `http://127.0.0.1:${port}`)
  // Paths of links are added to its end.
  const { username, search, hash } = new URL(public_url)
  if (username !== '' || search !== '' || hash !== '') {
    throw new ConfigError('FLORIN_PUBLIC_URL must have no login, query or fragment.')
  }
  if (mode === 'sandbox' || public_url.startsWith('https:')) return public_url
  throw new ConfigError(
    'FLORIN_PUBLIC_URL must be an https address in live mode: the one that callers use.',
  )
}
