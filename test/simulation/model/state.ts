import type { Micros } from './amounts.ts'
import { USD } from './amounts.ts'
import type {
  Actor,
  Budget,
  BudgetPeriod,
  CardAdvice,
  CardUsage,
  Charge,
  EntryMode,
  Limits,
  Merchant,
  MerchantLock,
  Outcome,
  Rail,
  Rules,
} from './commands.ts'

/** The state of an account. It is plain data, so that a possibility can be copied. */
export type Account = {
  name: string
  is_suspended: boolean
  balance: Micros
  owed: Micros
  cards: Map<string, Card>
  /** All transactions, oldest first. */
  rows: Row[]
  /** Responses by message, and messages whose reversal came first. */
  answered: Map<string, { fingerprint: string; outcome: Outcome }>
  early_reversals: Set<string>
  /** Clearings that await an operator: without USD amount or purchase, or refunds for review. */
  awaiting: Map<string, CardAdvice>
  challenges: Map<string, Challenge>
  topups: Map<string, Topup>
  withdrawals: Map<string, Withdrawal>
  disputes: Map<string, Dispute>
  /** Apps with a budget. */
  agents: Map<string, Agent>
}

export type Card = {
  name: string
  status: 'active' | 'frozen' | 'cancelled'
  frozen_by: Actor | null
  balance: Micros
  held: Micros
  limits: Limits
  mcc: Rules
  geo: Rules
  expires: string | null
  usage_kind: CardUsage
  /** The only merchant of a merchant_locked card; null until its first approval. */
  lock: MerchantLock | null
  valid_until: number | null
  /** A single-use card that made its purchase. */
  is_used: boolean
  replaced_by: string | null
  /** Shared by a chain of replacements. */
  usage: Usage
  /** Times of wrong CVVs and expiry dates. */
  failures: number[]
}

/** Spending by UTC day. `day` is the latest day that was counted on; empty before the first. */
export type Usage = { day: string; days: Map<string, Micros> }

/** A transaction. */
export type Row = {
  message: string
  card: string
  type: 'authorization' | 'capture' | 'refund' | 'decline'
  status:
    | 'pending'
    | 'captured'
    | 'partially_captured'
    | 'reversed'
    | 'expired'
    | 'settled'
    | 'declined'
  rrn: string | null
  amount: Micros
  minor: bigint
  currency: string | null
  /** Not captured yet, and the part of it that the card holds. */
  open: Micros
  held: Micros
  captured: Micros
  refunded: Micros
  is_single_message: boolean
  /** The authorization it belongs to; itself for an authorization. */
  authorization: Row | null
  /** Amounts by the day they were counted on, oldest first. */
  counted: { day: string; amount: Micros }[]
  /** The captures that a refund was allocated to. */
  shares: { capture: Row; amount: Micros }[]
  expires_at: number | null
  created_at: number
  decline_code: string | null
  failed_rules: readonly string[]
  /** The result of 3-D Secure; null for purchases without it. */
  three_ds: string | null
}

export type Challenge = {
  card: string
  charge: Pick<Charge, 'minor' | 'currency'>
  merchant: Pick<Merchant, 'name' | 'id'>
  status: 'pending' | 'approved' | 'declined' | 'expired'
  decided_at: number
  is_used: boolean
}

export type Transfer = {
  amount: Micros
  is_late: boolean
  state: 'pending' | 'credited' | 'held'
  reason: 'below_minimum' | 'screening' | 'kill_switch' | null
}

export type Topup = {
  amount: Micros
  status: 'awaiting' | 'completed' | 'cancelled' | 'error'
  reason: string | null
  expires_at: number
  closed_at: number | null
  transfers: Map<string, Transfer>
}

export type Withdrawal = {
  amount: Micros
  fee: Micros
  status: 'pending' | 'broadcasted' | 'completed' | 'failed'
  created_on: string
}

export type Dispute = {
  capture: Row
  amount: Micros
  /** The provisional credit that is left. */
  credit: Micros
  status: 'open' | 'answered' | 'closed'
  outcome: null | 'won' | 'lost'
  closed_by: null | 'operator' | 'refund'
}

/** An app with a grant. `day` is the latest UTC day it was charged on. */
export type Agent = { budget: Budget; day: string; charges: AgentCharge[]; approvals: Approval[] }

export type AgentCharge = {
  card: string | null
  day: string
  amounts: Record<BudgetPeriod, Micros>
}

export type Approval = {
  call: string
  status: 'pending' | 'approved' | 'declined' | 'used'
  created_at: number
  decided_at: number
}

/** The limits of get_limits. */
export type SpendLimits = Record<
  | 'deposit_min'
  | 'topup_min'
  | 'topup_max'
  | 'load_min'
  | 'load_max'
  | 'card_balance_max'
  | 'per_transaction_max'
  | 'daily_max'
  | 'monthly_max'
  | 'withdrawal_min'
  | 'withdrawal_max'
  | 'withdrawal_daily'
  | 'withdrawal_fee',
  Micros
> & { cards_max: number }

/** State that all accounts share: the clock, the kill switches and the settings. */
export type Programme = {
  now: number
  killed: Set<Rail>
  limits: SpendLimits
  partial_approvals: boolean
  topup_window_ms: number
  blocked_countries: readonly string[]
  /** Refunds that exceed their purchase by more than this await an operator; null: none do. */
  refund_review: Micros | null
}

/** The defaults of the contract, section 3. */
export const default_limits: SpendLimits = {
  deposit_min: 1n * USD,
  topup_min: 5n * USD,
  topup_max: 50_000n * USD,
  load_min: 1n * USD,
  load_max: 10_000n * USD,
  card_balance_max: 20_000n * USD,
  cards_max: 100,
  per_transaction_max: 10_000n * USD,
  daily_max: 20_000n * USD,
  monthly_max: 100_000n * USD,
  withdrawal_min: 10n * USD,
  withdrawal_max: 25_000n * USD,
  withdrawal_daily: 50_000n * USD,
  withdrawal_fee: 1n * USD,
}

export const newAccount = (name: string): Account => ({
  name,
  is_suspended: false,
  balance: 0n,
  owed: 0n,
  cards: new Map(),
  rows: [],
  answered: new Map(),
  early_reversals: new Set(),
  awaiting: new Map(),
  challenges: new Map(),
  topups: new Map(),
  withdrawals: new Map(),
  disputes: new Map(),
  agents: new Map(),
})

export const newUsage = (): Usage => ({ day: '', days: new Map() })

/** Entry modes without the card, in which a CVV can be guessed. */
export const GUESSABLE: ReadonlySet<EntryMode> = new Set([
  'keyed',
  'ecommerce',
  'credential_on_file',
])

/** One account and what it shares with the others; every rule takes this. */
export type Scope = { programme: Programme; account: Account }

export const ok = (amount?: Micros): Outcome =>
  amount === undefined ? { result: 'ok' } : { result: 'ok', amount }

export const refused = (code: string): Outcome => ({ result: 'refused', code })
