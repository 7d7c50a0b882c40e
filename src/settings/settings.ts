import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { Secret } from '#kernel/secret.ts'
import manifest from '#package.json' with { type: 'json' }
import { type TokenSettings, tokenSettingsFrom } from '#platform/storage/pkcs11_settings.ts'
import { type S3Settings, s3SettingsFrom } from '#platform/storage/s3_settings.ts'
import { type ChainSettings, chainSettingsFrom } from '#rails/chain/chain_settings.ts'
import { type PolicySettings, policySettingsFrom } from '#rails/signer/signer_policy.ts'
import { whyUncollectable, type X402Settings, x402SettingsFrom } from '#rails/x402/x402_settings.ts'
import { type BinProfile, binProfilesFrom, SANDBOX_BINS } from './bin_settings.ts'
import {
  ISO_CONNECTIONS_MAX,
  type IsoSettings,
  type IsoTls,
  LINK_NAMES,
  whyOpenToStrangers,
} from './iso_settings.ts'
import { type OperatorSettings, operatorSettingsFrom } from './operator_settings.ts'
import { type RiskSettings, riskSettingsFrom } from './risk_settings.ts'

/** The environment, read once and typed. A wrong value stops the start with a sentence. */
export type Settings = IsoSettings &
  OperatorSettings & {
    version: string
    mode: 'sandbox' | 'live'
    host: string
    port: number
    /** The processors that may call, and the secret each signs with; by the name of the link. */
    processors: Readonly<Record<string, Secret>>
    data_dir: string
    database_url: Secret | null
    /** A login apart for calls of account holders; otherwise that of database_url is used. */
    account_database_url: Secret | null
    public_url: string
    rate_profile: RateProfileName
    trusted_proxies: readonly string[]
    redis_url: Secret | null
    key_file: string
    /** The hardware token that seals the key file; null: its mode alone protects it. */
    key_token: TokenSettings | null
    /** Whether the agent-tool server gives sessions to clients that want one. */
    mcp_sessions: boolean
    /** Origins whose pages may call the agent-tool server, besides our own and loopback. */
    mcp_origins: readonly string[]
    /** smtp://user:password@host:587 or smtps://…; null: e-mails are kept and not sent. */
    smtp_url: Secret | null
    mail_from: string
    spend_limits: SpendLimits
    risk: RiskSettings
    /** The bucket that evidence is kept in; null: the local disk. */
    s3: S3Settings | null
    /** How long a file that is being uploaded may stand still. */
    upload_idle_seconds: number
    bins: readonly BinProfile[]
    /** The chains that money comes from and goes to; the first one is the default. */
    chains: readonly ChainSettings[]
    /** Addresses we do not deal with, one a line; read again when the file changes. */
    screening_file: string | null
    /** Where the signer listens: a Unix socket that only its user and group may open. */
    signer_socket: string
    /** The signer's high-water mark, apart from its record. */
    signer_mark_file: string
    /** What the signer's role will sign at most; the service itself has no use for it. */
    signer_policy: PolicySettings
    topup_window_minutes: number
    /** What some operations cost; nothing by default. */
    x402: X402Settings
  }

export type RateProfileName = 'default' | 'conservative' | 'off'

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

export type { BinProfile }

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
  const public_url = urlOf(env, 'FLORIN_PUBLIC_URL', `http://127.0.0.1:${port}`)
  if (mode === 'live' && !public_url.startsWith('https:')) {
    throw new ConfigError(
      'FLORIN_PUBLIC_URL must be an https address in live mode: the one that callers use.',
    )
  }
  return {
    version: manifest.version,
    mode,
    // The sandbox has no secrets worth keeping and no reason to be reached from elsewhere.
    host: env['FLORIN_HOST'] || (mode === 'sandbox' ? '127.0.0.1' : '0.0.0.0'),
    port,
    ...isoOf(env, mode),
    processors: processorsOf(env),
    data_dir,
    database_url: databaseUrlOf(env, 'FLORIN_DATABASE_URL'),
    account_database_url: databaseUrlOf(env, 'FLORIN_ACCOUNT_DATABASE_URL'),
    public_url,
    ...operatorOf(env, { mode, port, public_url }),
    rate_profile,
    trusted_proxies: networksOf(env, 'FLORIN_TRUSTED_PROXIES'),
    redis_url: addressOf(env, 'REDIS_URL', /^rediss?:\/\/[^/?]/, 'redis://…'),
    key_file: resolve(env['FLORIN_KEY_FILE'] || `${data_dir}/keys.json`),
    key_token: keyTokenOf(env),
    mcp_sessions: choice(env, 'FLORIN_MCP_SESSIONS', ['off', 'on'], 'off') === 'on',
    mcp_origins: listOf(env, 'FLORIN_MCP_ORIGINS'),
    smtp_url: smtpUrlOf(env),
    mail_from: env['FLORIN_MAIL_FROM'] || 'Florin <no-reply@localhost>',
    spend_limits: spendLimitsOf(env),
    risk: riskOf(env, mode),
    s3: s3Of(env),
    upload_idle_seconds: secondsOf(env, 'FLORIN_UPLOAD_IDLE_SECONDS', 30),
    bins: mode === 'sandbox' ? SANDBOX_BINS : binsOf(env),
    chains: chainsOf(env),
    screening_file: env['FLORIN_SCREENING_FILE'] ? resolve(env['FLORIN_SCREENING_FILE']) : null,
    signer_socket: resolve(env['FLORIN_SIGNER_SOCKET'] || `${data_dir}/signer.sock`),
    signer_mark_file: resolve(env['FLORIN_SIGNER_MARK_FILE'] || `${data_dir}/signer_mark.json`),
    signer_policy: signerPolicyOf(env),
    topup_window_minutes: minutesOf(env, 'FLORIN_TOPUP_WINDOW_MINUTES', 60),
    x402: x402Of(env, mode),
  }
}

const databaseUrlOf = (env: Environment, name: string): Secret | null =>
  addressOf(env, name, /^postgres(ql)?:\/\/[^/?]/, 'postgres://…')

/** In live mode a card host that strangers could use stops the start. */
function isoOf(env: Environment, mode: Settings['mode']): IsoSettings {
  const sign_on = mode === 'live' ? 'required' : 'optional'
  const iso: IsoSettings = {
    iso_port: portOf(env, 'FLORIN_ISO_PORT', 8583),
    // Nothing is opened to other machines that was not asked for.
    iso_host: env['FLORIN_ISO_HOST'] || '127.0.0.1',
    iso_link: choice(env, 'FLORIN_ISO_LINK', LINK_NAMES, 'ascii'),
    iso_tls: isoTlsOf(env),
    iso_peers: networksOf(env, 'FLORIN_ISO_PEERS'),
    iso_protected_by: env['FLORIN_ISO_PROTECTED_BY']?.trim() || null,
    iso_connections_max: countOf(env, 'FLORIN_ISO_CONNECTIONS_MAX', ISO_CONNECTIONS_MAX),
    iso_sign_on: choice(env, 'FLORIN_ISO_SIGN_ON', ['required', 'optional'], sign_on),
  }
  const fault = mode === 'live' ? whyOpenToStrangers(iso) : null
  if (fault !== null) throw new ConfigError(`Live mode: ${fault}.`)
  return iso
}

function keyTokenOf(env: Environment): TokenSettings | null {
  const settings = tokenSettingsFrom(env)
  if (typeof settings === 'string') throw new ConfigError(`${settings}.`)
  return settings
}

function isoTlsOf(env: Environment): IsoTls | null {
  const cert_file = env['FLORIN_ISO_TLS_CERT_FILE']
  const key_file = env['FLORIN_ISO_TLS_KEY_FILE']
  if (!cert_file && !key_file) return null
  if (!cert_file || !key_file) {
    throw new ConfigError('FLORIN_ISO_TLS_CERT_FILE and FLORIN_ISO_TLS_KEY_FILE go together.')
  }
  return { cert_file, key_file, client_ca_file: env['FLORIN_ISO_TLS_CLIENT_CA_FILE'] || null }
}

const PROCESSOR_SECRET_LENGTH_MIN = 32

/** FLORIN_PROCESSORS is a JSON object: the name of each link, and the secret it signs with. */
function processorsOf(env: Environment): Record<string, Secret> {
  const given = jsonOf(env, 'FLORIN_PROCESSORS', {} as Record<string, unknown>)
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => {
      const isSecret = typeof text === 'string' && text.length >= PROCESSOR_SECRET_LENGTH_MIN
      if (!/^[a-z0-9_]+$/.test(name) || !isSecret) {
        throw new ConfigError(
          `FLORIN_PROCESSORS: ${name} needs a lower-case name and a secret of 32 letters or more.`,
        )
      }
      return [name, new Secret(text)]
    }),
  )
}

/** What is missing for its prices the sandbox fills in; in live mode it stops the start. */
function x402Of(env: Environment, mode: Settings['mode']): X402Settings {
  const prices = jsonOf<unknown>(env, 'FLORIN_PAID_OPERATIONS', {})
  const x402 = x402SettingsFrom(env, prices)
  const fault = typeof x402 === 'string' ? x402 : mode === 'live' ? whyUncollectable(x402) : null
  if (fault !== null || typeof x402 === 'string') throw new ConfigError(`${fault}.`)
  return x402
}

/** FLORIN_SPEND_LIMITS is a JSON object with any of the limits; the rest keep their standard. */
function spendLimitsOf(env: Environment): SpendLimits {
  const given = jsonOf<unknown>(env, 'FLORIN_SPEND_LIMITS', {})
  if (!isRecord(given)) throw new ConfigError('FLORIN_SPEND_LIMITS is not a JSON object.')
  for (const [name, value] of Object.entries(given)) {
    const isAmount = typeof value === 'number' && Number.isFinite(value) && value >= 0
    if (!Object.hasOwn(STANDARD_SPEND_LIMITS, name) || !isAmount) {
      throw new ConfigError(
        `FLORIN_SPEND_LIMITS: ${name} is not a limit, or not a number of 0 or more.`,
      )
    }
  }
  return { ...STANDARD_SPEND_LIMITS, ...given }
}

/** FLORIN_RISK is a JSON object with any of the controls; the rest keep what the mode sets. */
function riskOf(env: Environment, mode: Settings['mode']): RiskSettings {
  const risk = riskSettingsFrom(jsonOf<unknown>(env, 'FLORIN_RISK', {}), mode)
  if (typeof risk === 'string') throw new ConfigError(`FLORIN_RISK: ${risk}.`)
  return risk
}

function operatorOf(
  env: Environment,
  known: Pick<Settings, 'mode' | 'port' | 'public_url'>,
): OperatorSettings {
  const operator = operatorSettingsFrom(env, known)
  if (typeof operator === 'string') throw new ConfigError(operator)
  return operator
}

function s3Of(env: Environment): S3Settings | null {
  const s3 = s3SettingsFrom(env)
  if (typeof s3 === 'string') throw new ConfigError(s3)
  return s3
}

function secondsOf(env: Environment, name: string, standard: number): number {
  const seconds = Number(env[name] || standard)
  if (seconds > 0 && seconds <= 3_600) return seconds
  throw new ConfigError(`${name} is "${env[name]}"; it must be up to 3600 seconds.`)
}

/** FLORIN_CHAINS is a JSON list; the sandbox brings a chain of its own where it names none. */
function chainsOf(env: Environment): readonly ChainSettings[] {
  const chains = chainSettingsFrom(jsonOf(env, 'FLORIN_CHAINS', []))
  if (typeof chains === 'string') throw new ConfigError(`FLORIN_CHAINS: ${chains}.`)
  return chains
}

function signerPolicyOf(env: Environment): PolicySettings {
  const policy = policySettingsFrom(jsonOf(env, 'FLORIN_SIGNER_POLICY', {}))
  if (typeof policy === 'string') throw new ConfigError(`FLORIN_SIGNER_POLICY: ${policy}.`)
  return policy
}

function countOf(env: Environment, name: string, standard: number): number {
  const count = Number(env[name] || standard)
  if (Number.isInteger(count) && count >= 1 && count <= 65_535) return count
  throw new ConfigError(`${name} is "${env[name]}"; it must be a number from 1 to 65535.`)
}

function minutesOf(env: Environment, name: string, standard: number): number {
  const minutes = Number(env[name] || standard)
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > 10_080) {
    throw new ConfigError(`${name} is "${env[name]}"; it must be 1 to 10080 minutes.`)
  }
  return minutes
}

/** FLORIN_BINS is a JSON list of the card ranges that the programme issues from. */
function binsOf(env: Environment): readonly BinProfile[] {
  const bins = binProfilesFrom(jsonOf<unknown>(env, 'FLORIN_BINS', []))
  if (typeof bins === 'string') throw new ConfigError(bins)
  return bins
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

function smtpUrlOf(env: Environment): Secret | null {
  const url = secret(env, 'FLORIN_SMTP_URL')
  if (url === null || (URL.canParse(url.open()) && /^smtps?:/.test(url.open()))) return url
  throw new ConfigError('FLORIN_SMTP_URL must begin with smtp:// or smtps:// and name a host.')
}

function secret(env: Environment, name: string): Secret | null {
  const value = env[name]
  return value ? new Secret(value) : null
}

/** Not repeated in the refusal: an address of a database carries its password. */
function addressOf(env: Environment, name: string, form: RegExp, example: string): Secret | null {
  const address = secret(env, name)
  if (address === null || form.test(address.open())) return address
  throw new ConfigError(`${name} is not an address of the form ${example}.`)
}

/** Addresses and networks (10.0.0.0/8) of the proxies whose X-Forwarded-For counts. */
function networksOf(env: Environment, name: string): string[] {
  const networks = listOf(env, name)
  for (const network of networks) {
    const [address = '', bits, ...more] = network.split('/')
    const bits_max = isIP(address) === 4 ? 32 : 128
    const isSized = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bits_max)
    if (isIP(address) === 0 || !isSized || more.length > 0) {
      throw new ConfigError(`${name}: "${network}" is neither an address nor a network.`)
    }
  }
  return networks
}

function listOf(env: Environment, name: string): string[] {
  return (env[name] ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
