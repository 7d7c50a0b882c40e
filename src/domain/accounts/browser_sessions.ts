import { deletePayloadsOfAccount } from '#domain/credentials/oauth_payload_store.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** Browser sessions are those of the sign-in page of the authorization server. */

/** From its sign-in, whatever is done with it. */
export const BROWSER_SESSION_MS = 60 * 60_000

/** Ends them all, and every consent page that is open. The account's row is locked by then. */
export async function endBrowserSessions(tx: Tx, account_id: string, now: Date): Promise<void> {
  await tx.run('update accounts set browser_sessions_ended_at = $2 where id = $1', [
    account_id,
    now,
  ])
  await deletePayloadsOfAccount(tx, account_id)
}

/**
 * Whether somebody who signed in then is still signed in. Locks the account, so that a decision on
 * the page comes before or after a change of password and not in between.
 */
export async function isSignedIn(tx: Tx, account_id: string, signed_in_at: Date): Promise<boolean> {
  const [row] = await tx.rows<{ is_signed_in: boolean }>(
    `select status = 'active' and coalesce(browser_sessions_ended_at < $2, true) as is_signed_in
       from accounts where id = $1 for no key update`,
    [account_id, signed_in_at],
  )
  return row?.is_signed_in === true
}
