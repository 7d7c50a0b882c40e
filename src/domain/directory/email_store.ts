import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** The account that wants an email; null for another cell or a new account. */
export type WantedEmail = { email: string; account_id: string | null; now: Date }

/**
 * Locks an email in this cell, so that a second claim of it sees the first. Take it after the lock
 * of the account's own row, and the lock of another cell before the one of cell 0.
 */
export async function lockEmail(tx: Tx, email: string): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(${keyOfText()})`, [`email|${email}`])
}

/**
 * False if another account of this cell has the email, or can get it back with an undo link; in
 * cell 0, also if another cell has it. It is one statement, so an account that gives the email up
 * at the same time is seen with the email or with its link.
 */
export async function isEmailFree(
  tx: Tx,
  { email, account_id, now }: WantedEmail,
): Promise<boolean> {
  const [row] = await tx.rows<{ is_free: boolean }>('select is_email_free($1, $2, $3) as is_free', [
    email,
    account_id ?? '',
    now,
  ])
  return row?.is_free === true
}
