import { resolve } from 'node:path'
import { Secret } from '#kernel/secret.ts'
import manifest from '#package.json' with { type: 'json' }

/** The environment, read once and typed. A wrong value stops the start with a sentence. */
export type Settings = {
  version: string
  mode: 'sandbox' | 'live'
  host: string
  port: number
  iso_port: number
  data_dir: string
  database_url: Secret | null
  public_url: string
  operator_token: Secret | null
  rate_profile: RateProfileName
  trusted_proxies: readonly string[]
  redis_url: Secret | null
  key_file: string
  spend_limits: SpendLimits
  bins: readonly BinProfile[]
}

export type RateProfileName = 'default' | 'conservative' | 'off'

export type BinProfile = {
  bin: string
  brand: 'visa' | 'mastercard'
  types: readonly ('virtual' | 'physical')[]
  default: boolean
}

/** In dollars, as the contract names them; every one can be set for one account by the operator. */
export type SpendLimits = {
  deposit_min_usd: number
  topup_min_usd: number
  topup_max_usd: number
  load_min_usd: number
  load_max_usd: number
  card_balance_max_usd: number
  cards_max: number
  per_transaction_max_usd: number
  daily_max_usd: number
  monthly_max_usd: number
  withdrawal_min_usd: number
  withdrawal_max_usd: number
  withdrawal_daily_usd: number
  withdrawal_fee_usd: number
}

export const STANDARD_SPEND_LIMITS: SpendLimits = {
  deposit_min_usd: 1,
  topup_min_usd: 5,
  topup_max_usd: 50_000,
  load_min_usd: 1,
  load_max_usd: 10_000,
  card_balance_max_usd: 20_000,
  cards_max: 100,
  per_transaction_max_usd: 10_000,
  daily_max_usd: 20_000,
  monthly_max_usd: 100_000,
  withdrawal_min_usd: 10,
  withdrawal_max_usd: 25_000,
  withdrawal_daily_usd: 50_000,
  withdrawal_fee_usd: 1,
}

const SANDBOX_BINS: readonly BinProfile[] = [
  { bin: '400000', brand: 'visa', types: ['virtual', 'physical'], default: true },
  { bin: '555555', brand: 'mastercard', types: ['virtual', 'physical'], default: false },
]

export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

export function readSettings(env: Environment): Settings {
  const mode = choice(env, 'FLORIN_MODE', ['sandbox', 'live'], 'sandbox')
  const port = portOf(env, 'FLORIN_PORT', 8080)
  const data_dir = resolve(env['FLORIN_DATA_DIR'] || './data')
  const rate_profile = choice(
    env,
    'FLORIN_RATE_PROFILE',
    ['default', 'conservative', 'off'],
    'default',
  )
  if (rate_profile === 'off' && mode === 'live') {
    throw new ConfigError(
      'FLORIN_RATE_PROFILE=off is for the sandbox; in live mode choose default or conservative.',
    )
  }
  if (mode === 'live' && !env['FLORIN_PUBLIC_URL']) {
    throw new ConfigError(
      'FLORIN_PUBLIC_URL is needed in live mode: the https address that callers use.',
    )
  }
  refuseUnserved(env)
  return {
    version: manifest.version,
    mode,
    // The sandbox has no secrets worth keeping and no reason to be reached from elsewhere.
    host: env['FLORIN_HOST'] || (mode === 'sandbox' ? '127.0.0.1' : '0.0.0.0'),
    port,
    iso_port: portOf(env, 'FLORIN_ISO_PORT', 8583),
    data_dir,
    database_url: secret(env, 'FLORIN_DATABASE_URL'),
    public_url: urlOf(env, 'FLORIN_PUBLIC_URL', `http://127.0.0.1:${port}`),
    operator_token: secret(env, 'FLORIN_OPERATOR_TOKEN'),
    rate_profile,
    trusted_proxies: listOf(env, 'FLORIN_TRUSTED_PROXIES'),
    redis_url: secret(env, 'REDIS_URL'),
    key_file: resolve(env['FLORIN_KEY_FILE'] || `${data_dir}/keys.json`),
    spend_limits: spendLimitsOf(env),
    bins: mode === 'sandbox' ? SANDBOX_BINS : binsOf(env),
  }
}

/** A price that nobody collects would be worse than a refusal to start. */
function refuseUnserved(env: Environment): void {
  const prices = env['FLORIN_PAID_OPERATIONS']
  if (prices !== undefined && prices.trim() !== '' && prices.trim() !== '{}') {
    throw new ConfigError(
      'FLORIN_PAID_OPERATIONS is set, but this version cannot collect payments yet.',
    )
  }
}

/** FLORIN_SPEND_LIMITS is a JSON object with any of the limits; the rest keep their standard. */
function spendLimitsOf(env: Environment): SpendLimits {
  const given = jsonOf(env, 'FLORIN_SPEND_LIMITS', {} as Record<string, unknown>)
  for (const [name, value] of Object.entries(given)) {
    if (!(name in STANDARD_SPEND_LIMITS) || typeof value !== 'number' || value < 0) {
      throw new ConfigError(
        `FLORIN_SPEND_LIMITS: ${name} is not a limit, or not a number of 0 or more.`,
      )
    }
  }
  return { ...STANDARD_SPEND_LIMITS, ...given }
}

function binsOf(env: Environment): readonly BinProfile[] {
  return jsonOf<BinProfile[]>(env, 'FLORIN_BINS', [])
}

function jsonOf<Value>(env: Environment, name: string, standard: Value): Value {
  const text = env[name]
  if (!text) return standard
  try {
    return JSON.parse(text) as Value
  } catch (cause) {
    throw new ConfigError(`${name} is not JSON.`, { cause })
  }
}

function choice<const Words extends readonly string[]>(
  env: Environment,
  name: string,
  words: Words,
  standard: Words[number],
): Words[number] {
  const value = env[name] || standard
  if (!words.includes(value))
    throw new ConfigError(`${name} is "${value}"; it can be ${words.join(', ')}.`)
  return value
}

function portOf(env: Environment, name: string, standard: number): number {
  const value = env[name] || String(standard)
  const port = Number(value)
  if (!/^\d+$/.test(value) || port > 65_535) {
    throw new ConfigError(`${name} is "${value}"; it must be a port number from 0 to 65535.`)
  }
  return port
}

function urlOf(env: Environment, name: string, standard: string): string {
  const value = (env[name] || standard).replace(/\/+$/, '')
  if (!URL.canParse(value) || !/^https?:/.test(value)) {
    throw new ConfigError(`${name} is "${value}"; it must be a http or https address.`)
  }
  return value
}

function secret(env: Environment, name: string): Secret | null {
  const value = env[name]
  return value ? new Secret(value) : null
}

function listOf(env: Environment, name: string): string[] {
  return (env[name] ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
