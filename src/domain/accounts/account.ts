import type { Account, Notifications } from '#contract/accounts.ts'
import { Problem } from '#contract/problem.ts'
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

/** Without what guards it. */
export type ShownAccount = Omit<
  AccountRow,
  'password_hash' | 'totp_secret_sealed' | 'totp_last_step'
>

/** What an account holds in other rooms, read beside its row. */
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
  account: ShownAccount,
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
    // In the contract's order, whatever order the database keeps.
    notifications: Object.assign({}, STANDARD_NOTIFICATIONS, account.notifications),
    cards_count: holdings.cards_count,
    livemode,
    version: Number(account.version),
    created_at: account.created_at.toISOString(),
    updated_at: account.updated_at.toISOString(),
  }
}

/** Addresses differ by their letters, not by their capitals. */
export function foldEmail(email: string): string {
  return email.normalize('NFKC').toLowerCase()
}

/** Whoever takes over an account must not be able to silence its alarms first. */
export function requireAlertsStayOn(notifications: Partial<Notifications> | undefined): void {
  if (notifications?.security_alerts !== false) return
  throw new Problem('invalid_request', "Security alerts can't be turned off.", {
    status: 422,
    details: [{ field: 'notifications.security_alerts', message: 'must stay true' }],
  })
}

export function emailTaken(): Problem {
  return new Problem('email_taken', 'An account with this email already exists. Sign in instead.')
}
