import { deletePayloadsOfAccount } from '#domain/credentials/oauth_payload_store.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** Lifetime of a sign-in to the authorization server's pages. Activity does not extend it. */
export const BROWSER_SESSION_MS = 60 * 60_000

/** Also ends open consent pages. The caller must hold a lock on the account's row. */
export async function endBrowserSessions(tx: Tx, account_id: string, now: Date): Promise<void> {
  await tx.run('update accounts set browser_sessions_ended_at = $2 where id = $1', [
    account_id,
    now,
  ])
  await deletePayloadsOfAccount(tx, account_id)
}

const IS_SIGNED_IN = `
  select status = 'active' and coalesce(browser_sessions_ended_at < $2, true) as is_signed_in
    from accounts where id = $1`

/** Checks that the account is active and has not ended its browser sessions since the sign-in. */
export async function isSignedIn(tx: Tx, account_id: string, signed_in_at: Date): Promise<boolean> {
  const [row] = await tx.rows<{ is_signed_in: boolean }>(IS_SIGNED_IN, [account_id, signed_in_at])
  return row?.is_signed_in === true
}

/** Also locks the account, so a consent is stored either before or after a password change. */
export async function lockIfSignedIn(
  tx: Tx,
  account_id: string,
  signed_in_at: Date,
): Promise<boolean> {
  const sql = `${IS_SIGNED_IN} for no key update`
  const [row] = await tx.rows<{ is_signed_in: boolean }>(sql, [account_id, signed_in_at])
  return row?.is_signed_in === true
}
