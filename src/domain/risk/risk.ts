import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import { accountSums } from '#domain/ledger/balances.ts'
import { decimalFromMicros, formatUsd, type Micros, microsFromUsd } from '#kernel/money.ts'
import { formatTimestamp } from '#kernel/timestamp.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Delays withdrawals after a change of credentials, so the owner of a stolen account can react. A
 * new API key waits as long: otherwise an attacker with a session would create one and withdraw.
 */
export async function requireCooledDown(
  tx: Tx,
  caller: Caller,
  { settings, now }: { settings: Settings; now: Date },
): Promise<void> {
  const hours = settings.risk.withdrawal_cooldown_hours
  if (hours === 0) return
  const { account_id, kind, id } = caller
  const [row] = await tx.rows<{ credentials_changed_at: Date | null; key_created_at: Date | null }>(
    `select credentials_changed_at, k.created_at as key_created_at
       from accounts a left join api_keys k on k.account_id = a.id and k.id = $2
      where a.id = $1`,
    [account_id, kind === 'api_key' ? id : null],
  )
  requireElapsed(row?.credentials_changed_at, {
    hours,
    now,
    reason: 'Your email, password or two-factor settings changed recently',
  })
  requireElapsed(row?.key_created_at, { hours, now, reason: 'This API key is new' })
}

function requireElapsed(
  since: Date | null | undefined,
  { hours, now, reason }: { hours: number; now: Date; reason: string },
): void {
  if (since === null || since === undefined) return
  const allowed_at = new Date(since.getTime() + hours * HOUR_MS)
  if (allowed_at <= now) return
  throw new Problem(
    'policy_denied',
    `${reason}. You can withdraw again after ${formatTimestamp(allowed_at)}.`,
  )
}

/** An operator reviews withdrawals of this amount or more. */
export function needsReview(amount_micros: Micros, { risk }: Settings): boolean {
  const { withdrawal_review_usd } = risk
  return withdrawal_review_usd !== null && amount_micros >= microsFromUsd(withdrawal_review_usd)
}

type DebitedWithdrawal = {
  amount_micros: Micros
  left_micros: Micros
  settings: Settings
  now: Date
}

/**
 * Provisional credit of an open dispute must stay in the balance, because a lost dispute takes it
 * back. Call it after the debit, while the treasury is locked, so that concurrent withdrawals can't
 * count the same money.
 */
export async function requireCreditLeft(
  tx: Tx,
  account_id: string,
  { amount_micros, left_micros, settings, now }: DebitedWithdrawal,
): Promise<void> {
  const days = settings.risk.provisional_credit_days
  if (days === 0) return
  const [row] = await tx.rows<{ micros: Micros }>(
    `select coalesce(sum(amount_micros - taken_back_micros), 0)::bigint as micros from disputes
      where account_id = $1 and status <> 'closed' and created_at > $2`,
    [account_id, new Date(now.getTime() - days * DAY_MS)],
  )
  const credit = row?.micros ?? 0n
  if (credit <= left_micros) return
  const available = left_micros + amount_micros - credit
  throw new Problem(
    'insufficient_balance',
    `${formatUsd(credit)} of your balance is provisional credit from open disputes. It ` +
      `can't be withdrawn until the dispute is closed or ${days} days old. ` +
      `${formatUsd(available < 0n ? 0n : available)} is available to withdraw now.`,
  )
}

/** Refuses top-ups above the maximum balance. A deposit that arrives is never refused. */
export async function requireBalanceRoom(
  tx: Tx,
  account_id: string,
  { amount_micros, settings }: { amount_micros: Micros; settings: Settings },
): Promise<void> {
  const { balance_max_usd } = settings.risk
  if (balance_max_usd === null) return
  const { treasury_micros, cards_micros } = await accountSums(tx, account_id)
  const room = microsFromUsd(balance_max_usd) - treasury_micros - cards_micros
  if (amount_micros <= room) return
  const left = room < 0n ? 0n : room
  const message = `must be at most ${decimalFromMicros(left)}`
  throw new Problem(
    'amount_out_of_range',
    `Your account can hold up to ${formatUsd(microsFromUsd(balance_max_usd))}. ` +
      `You can add ${formatUsd(left)} more.`,
    { details: [{ field: 'amount_usd', message }] },
  )
}
