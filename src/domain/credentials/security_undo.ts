import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { type LinkTokenContext, newLinkToken } from './link_token.ts'

/** Lifetime of the link in the email. */
export const UNDO_HOURS = 72

const hashOf = (keys: Keys, token: string) => keys.fingerprint('security_undo', token)

export type UndoKind = 'two_factor_on' | 'email_changed'

type NewUndo = { account_id: string; email: string; kind: UndoKind; now: Date }

/** Returns the token of the link. Only its hash is stored. */
export async function createUndo(
  tx: Tx,
  context: LinkTokenContext & { keys: Keys },
  { account_id, email, kind, now }: NewUndo,
): Promise<string> {
  const token = newLinkToken(context)
  const expires_at = new Date(now.getTime() + UNDO_HOURS * 60 * 60 * 1_000)
  await tx.run(
    `insert into security_undos (token_hash, account_id, email, kind, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [hashOf(context.keys, token), account_id, email, kind, now, expires_at],
  )
  return token
}

export type Undo = {
  account_id: string
  email: string
  created_at: Date
  /** Two-factor authentication was turned on, and the link to undo that has not expired. */
  is_two_factor_new: boolean
}

/** Undefined if the link is unknown, used or expired. */
export async function findUndo(
  tx: Tx,
  { keys }: { keys: Keys },
  { token, now }: { token: string; now: Date },
): Promise<Undo | undefined> {
  const [row] = await tx.rows<Undo>(
    `select account_id, email, created_at, exists (
              select from security_undos t
               where t.account_id = u.account_id and t.kind = 'two_factor_on'
                 and t.used_at is null and t.expires_at > $2) as is_two_factor_new
       from security_undos u
      where token_hash = $1 and used_at is null and expires_at > $2`,
    [hashOf(keys, token), now],
  )
  return row
}

/** The addresses that undo links can restore. */
export async function listReservedEmails(tx: Tx, now: Date): Promise<string[]> {
  const rows = await tx.rows<{ email: string }>(
    'select distinct email from security_undos where used_at is null and expires_at > $1',
    [now],
  )
  return rows.map(({ email }) => email)
}

/**
 * Ends this link, the later ones of the account and those sent to the same address: an attacker who
 * changed the email has later links. Earlier ones stay, because an attacker who uses a link of his
 * own must not end the owner's.
 */
export async function consumeUndos(
  tx: Tx,
  { account_id, email, created_at }: Undo,
  now: Date,
): Promise<void> {
  await tx.run(
    `update security_undos set used_at = $4
      where account_id = $1 and (created_at >= $2 or email = $3) and used_at is null`,
    [account_id, created_at, email, now],
  )
}
