import { operations } from '#contract/operations.ts'
import { isUsdAmount, USD_MAX } from '#kernel/money.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'
import type { Mode } from '#platform/settings/server_settings.ts'

/** The operator's risk controls; spend limits are separate. */
export type RiskSettings = {
  /** Calls of an operation per UTC day, per account and per address. */
  velocity: Readonly<Record<string, Velocity>>
  /** Withdrawals wait this long after a change of password, email or second factor. */
  withdrawal_cooldown_hours: number
  /** Withdrawals of this amount or more wait for an operator's review; null: none do. */
  withdrawal_review_usd: number | null
  /** The provisional credit of an open dispute can be withdrawn after this many days. */
  provisional_credit_days: number
  /** A top-up that would bring the balance above this is refused; null: no limit. */
  balance_max_usd: number | null
  /** Cards are declined in these countries (ISO 3166-1 alpha-2). */
  blocked_countries: readonly string[]
  /** Approve the available part of an amount if the terminal supports partial approvals. */
  partial_approvals: boolean
  /** Refunds that exceed their purchase by more than this wait for an operator; null: none do. */
  refund_review_usd: number | null
  /** Approving more than this for an agent needs the owner's password; null: never. */
  approval_password_usd: number | null
}

type Velocity = { account_per_day?: number; ip_per_day?: number }

const DEFAULTS: Readonly<Record<Mode, RiskSettings>> = {
  sandbox: {
    velocity: {},
    withdrawal_cooldown_hours: 0,
    withdrawal_review_usd: null,
    provisional_credit_days: 0,
    balance_max_usd: null,
    blocked_countries: [],
    partial_approvals: false,
    refund_review_usd: null,
    approval_password_usd: null,
  },
  live: {
    velocity: {
      create_account: { ip_per_day: 50 },
      create_topup: { account_per_day: 200 },
      issue_card: { account_per_day: 50 },
      withdraw: { account_per_day: 50 },
    },
    withdrawal_cooldown_hours: 24,
    withdrawal_review_usd: 10_000,
    provisional_credit_days: 30,
    balance_max_usd: null,
    blocked_countries: [],
    partial_approvals: false,
    refund_review_usd: 0,
    approval_password_usd: 500,
  },
}

/** FLORIN_RISK is a JSON object with any of the controls; the others keep the mode's default. */
export function readRiskSettings(env: Environment, mode: Mode): RiskSettings {
  const controls = readJson(env, 'FLORIN_RISK', {})
  if (!isRecord(controls)) throw invalid('it is not a JSON object')
  const defaults = DEFAULTS[mode]
  const unknown = Object.keys(controls).find((name) => !Object.hasOwn(defaults, name))
  if (unknown !== undefined) throw invalid(`${unknown} is not a risk control`)
  const risk = { ...defaults, ...controls } as RiskSettings
  requireValid(risk)
  return risk
}

function invalid(reason: string): ConfigError {
  return new ConfigError(`FLORIN_RISK: ${reason}.`)
}

const NULLABLE_AMOUNTS = [
  'withdrawal_review_usd',
  'balance_max_usd',
  'refund_review_usd',
  'approval_password_usd',
] as const

function requireValid(risk: RiskSettings): void {
  for (const name of NULLABLE_AMOUNTS) {
    if (risk[name] !== null && !isUsdAmount(risk[name])) {
      throw invalid(`${name} must be null, or 0 to ${USD_MAX} with at most 6 decimals`)
    }
  }
  for (const name of ['withdrawal_cooldown_hours', 'provisional_credit_days'] as const) {
    if (!isDuration(risk[name])) throw invalid(`${name} must be a number from 0 to ${TIME_MAX}`)
  }
  const countries: unknown = risk.blocked_countries
  const isCode = (code: unknown) => typeof code === 'string' && /^[A-Z]{2}$/.test(code)
  const areCodes = Array.isArray(countries) && countries.every(isCode)
  if (!areCodes) throw invalid('blocked_countries must be a list of two-letter codes')
  if (typeof risk.partial_approvals !== 'boolean') {
    throw invalid('partial_approvals must be true or false')
  }
  requireValidVelocity(risk.velocity)
}

const VELOCITY_FIELDS = ['account_per_day', 'ip_per_day']

function requireValidVelocity(velocity: unknown): void {
  if (!isRecord(velocity)) throw invalid('velocity must be an object')
  for (const [name, limits] of Object.entries(velocity)) {
    const isWrite = Object.hasOwn(operations, name) && methodOf(name) !== 'GET'
    if (!isWrite) throw invalid(`velocity: ${name} is not an operation that writes`)
    if (!isRecord(limits)) throw invalid(`velocity: ${name} has no limits`)
    const isLimit = ([field, value]: [string, unknown]) =>
      VELOCITY_FIELDS.includes(field) && Number.isInteger(value) && Number(value) > 0
    if (!Object.entries(limits).every(isLimit)) {
      throw invalid(
        `velocity: ${name} takes ${VELOCITY_FIELDS.join(' and ')}, whole numbers above 0`,
      )
    }
  }
}

const methodOf = (name: string) => operations[name as keyof typeof operations].method

/** In hours or days; a date that is much further away does not exist. */
const TIME_MAX = 100_000

const isDuration = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= TIME_MAX
