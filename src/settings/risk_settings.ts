import { operations } from '#contract/operations.ts'

/** What the operator of a programme holds its accounts to, besides their limits. */
export type RiskSettings = {
  /** How often a UTC day something may be done, by operation: by one account, from one address. */
  velocity: Readonly<Record<string, Velocity>>
  /** How long withdrawals wait after a change of password, e-mail or second factor. */
  withdrawal_cooldown_hours: number
  /** From this amount on a person looks at a withdrawal first; null: never. */
  withdrawal_review_usd: number | null
  /** How long the credit of an open dispute cannot be withdrawn; 0: it can be at once. */
  provisional_credit_days: number
  /** No top-up is begun that would bring an account's balance above it; null: no bound. */
  balance_max_usd: number | null
  /** ISO 3166-1 alpha-2 codes of countries where no card of the programme pays. */
  blocked_countries: readonly string[]
  /** Whether a terminal that can take part of its amount gets what the card has. */
  partial_approvals: boolean
  /** Refunds of so much more than their purchase took wait for an operator; null: none do. */
  refund_review_usd: number | null
}

export type Velocity = { account_per_day?: number; ip_per_day?: number }

const STANDARDS: Readonly<Record<'sandbox' | 'live', RiskSettings>> = {
  sandbox: {
    velocity: {},
    withdrawal_cooldown_hours: 0,
    withdrawal_review_usd: null,
    provisional_credit_days: 0,
    balance_max_usd: null,
    blocked_countries: [],
    partial_approvals: false,
    refund_review_usd: null,
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
  },
}

/** The settings, or a sentence for what is wrong with them. */
export function riskSettingsFrom(given: unknown, mode: 'sandbox' | 'live'): RiskSettings | string {
  if (!isRecord(given)) return 'it is not a JSON object'
  const standard = STANDARDS[mode]
  const stray = Object.keys(given).find((name) => !Object.hasOwn(standard, name))
  if (stray !== undefined) return `${stray} is no risk control`
  const risk = { ...standard, ...given } as RiskSettings
  return wrongIn(risk) ?? risk
}

function wrongIn(risk: RiskSettings): string | null {
  const { withdrawal_cooldown_hours, withdrawal_review_usd, balance_max_usd } = risk
  const { refund_review_usd } = risk
  if (refund_review_usd !== null && !isAmount(refund_review_usd)) {
    return 'refund_review_usd must be a number or null'
  }
  if (!isAmount(withdrawal_cooldown_hours)) return 'withdrawal_cooldown_hours is no number'
  if (!isAmount(risk.provisional_credit_days)) return 'provisional_credit_days is no number'
  if (withdrawal_review_usd !== null && !isAmount(withdrawal_review_usd)) {
    return 'withdrawal_review_usd is neither a number nor null'
  }
  if (balance_max_usd !== null && !isAmount(balance_max_usd)) {
    return 'balance_max_usd is neither a number nor null'
  }
  const countries: unknown = risk.blocked_countries
  const areCodes = Array.isArray(countries) && countries.every((one) => /^[A-Z]{2}$/.test(one))
  if (!areCodes) return 'blocked_countries is no list of two-letter codes'
  if (typeof risk.partial_approvals !== 'boolean') return 'partial_approvals is no true or false'
  return wrongVelocity(risk.velocity)
}

const BOUNDS = ['account_per_day', 'ip_per_day']

function wrongVelocity(velocity: unknown): string | null {
  if (!isRecord(velocity)) return 'velocity is no object'
  for (const [name, bounds] of Object.entries(velocity)) {
    const isWrite = Object.hasOwn(operations, name) && methodOf(name) !== 'GET'
    if (!isWrite) return `velocity: ${name} is no operation that changes something`
    if (!isRecord(bounds)) return `velocity: ${name} has no bounds`
    const isBound = ([bound, value]: [string, unknown]) =>
      BOUNDS.includes(bound) && Number.isInteger(value) && Number(value) > 0
    if (!Object.entries(bounds).every(isBound)) {
      return `velocity: ${name} takes ${BOUNDS.join(' and ')}, whole numbers above 0`
    }
  }
  return null
}

const methodOf = (name: string) => operations[name as keyof typeof operations].method

const isAmount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
