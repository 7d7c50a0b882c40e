import {
  type Account,
  EMAIL_LENGTH_MAX,
  EMAIL_PATTERN,
  type Notifications,
} from '#contract/accounts.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { type Micros, usdFromMicros } from '#kernel/money.ts'

export type AccountRow = {
  id: string
  email: string
  password_hash: string
  status: 'active' | 'suspended'
  notifications: Notifications
  totp_status: 'disabled' | 'pending' | 'enabled'
  totp_secret_sealed: string | null
  totp_last_step: bigint
  version: bigint
  created_at: Date
  updated_at: Date
}

/** For reads: leaves out the password hash and the TOTP secret. */
export type AccountWithoutSecrets = Omit<
  AccountRow,
  'password_hash' | 'totp_secret_sealed' | 'totp_last_step'
>

/** Balances and card counts, which other rooms own. */
export type AccountHoldings = {
  balance_micros: Micros
  owed_micros: Micros
  cards_count: { active: number; frozen: number; cancelled: number }
}

export const EMPTY_HOLDINGS: AccountHoldings = {
  balance_micros: 0n,
  owed_micros: 0n,
  cards_count: { active: 0, frozen: 0, cancelled: 0 },
}

export const STANDARD_NOTIFICATIONS: Notifications = {
  topup_confirmed: true,
  topup_expired: true,
  transaction_authorized: false,
  transaction_declined: true,
  card_frozen: true,
  dispute_updates: true,
  withdrawal_broadcasted: true,
  system_maintenance: true,
  security_alerts: true,
  low_balance_threshold_usd: null,
}

export function accountView(
  account: AccountWithoutSecrets,
  holdings: AccountHoldings,
  livemode: boolean,
): Account {
  return {
    id: account.id,
    email: account.email,
    status: account.status,
    balance_usd: usdFromMicros(holdings.balance_micros),
    owed_usd: usdFromMicros(holdings.owed_micros),
    two_factor_enabled: account.totp_status === 'enabled',
    two_factor_status: account.totp_status,
    // In the contract's order; jsonb does not keep it.
    notifications: Object.assign({}, STANDARD_NOTIFICATIONS, account.notifications),
    cards_count: holdings.cards_count,
    livemode,
    version: Number(account.version),
    created_at: account.created_at.toISOString(),
    updated_at: account.updated_at.toISOString(),
  }
}

/** Email addresses are compared without case. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFKC').toLowerCase()
}

const EMAIL = new RegExp(EMAIL_PATTERN, 'u')

/**
 * The email of an account. It is checked as it is stored: normalizing turns a fullwidth @ or comma
 * into the plain one, and can make a text 18 times as long.
 */
export function requireEmail(text: string): string {
  const email = normalizeEmail(text)
  if (email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email)) return email
  throw fieldProblem('invalid_request', 'email', 'is not a valid email address')
}

/** Enough for its owner to recognize: a•••@example.com. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  return `${[...email.slice(0, at)][0] ?? ''}•••${email.slice(at)}`
}

/** An attacker must not be able to turn off the alerts first. */
export function requireAlertsStayOn(notifications: Partial<Notifications> | undefined): void {
  if (notifications?.security_alerts !== false) return
  throw new Problem('invalid_request', "Security alerts can't be turned off.", {
    status: 422,
    details: [{ field: 'notifications.security_alerts', message: 'must stay true' }],
  })
}

export type EmailClaims = { isEmailClaimed: Dependencies['isEmailClaimed'] }

/**
 * Refuses an email that another cell took over since this account claimed it. The account's cell
 * has the email locked, so it can't be taken over afterwards.
 */
export async function requireEmailClaimed(
  { isEmailClaimed }: EmailClaims,
  email: string,
): Promise<void> {
  if (!(await isEmailClaimed(email))) throw emailTaken()
}

export function emailTaken(): Problem {
  return new Problem('email_taken', 'An account with this email already exists. Sign in instead.')
}
