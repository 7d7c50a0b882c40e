import type { SecurityAlert } from '#domain/context/context.ts'
import { deleteReset } from '#domain/credentials/password_reset_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { endBrowserSessions } from './browser_sessions.ts'

/** Changes an attacker makes first. A new API key is not one: it has its own cool-down. */
const CREDENTIAL_CHANGES: readonly SecurityAlert['kind'][] = [
  'password_changed',
  'password_reset',
  'email_changed',
  'two_factor_on',
  'two_factor_off',
]

/**
 * Starts the withdrawal cool-down, and ends the browser sessions and any reset link: a link that
 * was emailed to the old address must not work after the change. The handler that raised the alerts
 * has locked the account's row.
 */
export async function noteCredentialChange(
  tx: Tx,
  account_id: string,
  { alerts, now }: { alerts: readonly SecurityAlert[]; now: Date },
): Promise<void> {
  if (!alerts.some(({ kind }) => CREDENTIAL_CHANGES.includes(kind))) return
  await tx.run('update accounts set credentials_changed_at = $2 where id = $1', [account_id, now])
  await endBrowserSessions(tx, account_id, now)
  await deleteReset(tx, account_id)
}
