import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import {
  ConfigError,
  type Environment,
  readChoice,
  readList,
  readMinutes,
  readSeconds,
} from '#platform/settings/environment.ts'
import {
  type Mode,
  readMode,
  readServerSettings,
  type ServerSettings,
} from '#platform/settings/server_settings.ts'
import { readTokenSettings, type TokenSettings } from '#platform/storage/pkcs11_settings.ts'
import { readS3Settings, type S3Settings } from '#platform/storage/s3_settings.ts'
import { type ChainSettings, readChainSettings } from '#rails/chain/chain_settings.ts'
import { readSignerSettings, type SignerSettings } from '#rails/signer/signer_settings.ts'
import { readX402Settings, type X402Settings } from '#rails/x402/x402_settings.ts'
import { type BinProfile, readBins } from './bin_settings.ts'
import { type CellSettings, readCells, type ServedCells } from './cell_settings.ts'
import { type IsoSettings, readIsoSettings } from './iso_settings.ts'
import { type MailSettings, readMailSettings } from './mail_settings.ts'
import { type OperatorSettings, readOperatorSettings } from './operator_settings.ts'
import { type ProcessorSecrets, readProcessors } from './processor_settings.ts'
import { type RateProfileName, readRateProfile } from './rate_settings.ts'
import { type RetentionSettings, readRetention } from './retention_settings.ts'
import { type RiskSettings, readRiskSettings } from './risk_settings.ts'
import { readSpendLimits, type SpendLimits } from './spend_limit_settings.ts'
import { readTracingSettings, type TracingSettings } from './tracing_settings.ts'

/** The environment, read once and typed. An invalid value throws a ConfigError. */
export type Settings = ServerSettings &
  CellSettings &
  ServedCells &
  IsoSettings &
  OperatorSettings &
  MailSettings &
  SignerSettings & {
    key_file: string
    /** The hardware token that seals the key file; null: only its file mode protects it. */
    key_token: TokenSettings | null
    /** The bucket for evidence; null: the local disk. */
    s3: S3Settings | null
    /** An upload that receives no bytes for this long is cut off. */
    upload_idle_seconds: number
    /** The memory that hashing a password takes, in MiB. */
    password_hash_mib: number
    /** Gives MCP sessions to clients that ask for one. */
    mcp_sessions: boolean
    /** Origins whose pages may call the MCP server, besides our own and loopback. */
    mcp_origins: readonly string[]
    processors: ProcessorSecrets
    rate_profile: RateProfileName
    spend_limits: SpendLimits
    risk: RiskSettings
    retention: RetentionSettings
    bins: readonly BinProfile[]
    /** The first one is the default. */
    chains: readonly ChainSettings[]
    /** Blocked addresses, one per line; read again when the file changes. */
    screening_file: string | null
    topup_window_minutes: number
    x402: X402Settings
    /** Null: no traces. */
    tracing: TracingSettings | null
  }

/** `cores` decides the number of workers if the environment doesn't. */
export function readSettings(env: Environment, cores = availableParallelism()): Settings {
  const mode = readMode(env)
  const rate_profile = readRateProfile(env, mode)
  const server = readServerSettings(env, mode, cores)
  const { data_dir } = server
  return {
    ...server,
    ...readCells(env, server),
    ...readIsoSettings(env, mode),
    ...readOperatorSettings(env, server),
    ...readMailSettings(env),
    tracing: readTracingSettings(env),
    ...readSignerSettings(env, data_dir),
    key_file: resolve(env['FLORIN_KEY_FILE'] || `${data_dir}/keys.json`),
    key_token: readTokenSettings(env),
    s3: readS3Settings(env),
    upload_idle_seconds: readSeconds(env, 'FLORIN_UPLOAD_IDLE_SECONDS', 30),
    password_hash_mib: readPasswordHashMib(env, mode),
    mcp_sessions: readChoice(env, 'FLORIN_MCP_SESSIONS', ['off', 'on'], 'off') === 'on',
    mcp_origins: readList(env, 'FLORIN_MCP_ORIGINS'),
    processors: readProcessors(env),
    rate_profile,
    spend_limits: readSpendLimits(env),
    risk: readRiskSettings(env, mode),
    retention: readRetention(env),
    bins: readBins(env, mode),
    chains: readChainSettings(env),
    screening_file: env['FLORIN_SCREENING_FILE'] ? resolve(env['FLORIN_SCREENING_FILE']) : null,
    topup_window_minutes: readMinutes(env, 'FLORIN_TOPUP_WINDOW_MINUTES', 60),
    x402: readX402Settings(env, mode),
  }
}

/** OWASP's least for argon2id with two iterations. Outside live mode tests may use less. */
const PASSWORD_HASH_MIB = 19

function readPasswordHashMib(env: Environment, mode: Mode): number {
  const value = env['FLORIN_PASSWORD_HASH_MIB'] || PASSWORD_HASH_MIB
  const mib = Number(value)
  const least = mode === 'live' ? PASSWORD_HASH_MIB : 1
  if (Number.isInteger(mib) && mib >= least && mib <= 1_024) return mib
  throw new ConfigError(`FLORIN_PASSWORD_HASH_MIB is "${value}"; it must be ${least} to 1024.`)
}
