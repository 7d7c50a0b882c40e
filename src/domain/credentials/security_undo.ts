import type { Dependencies } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** How long the owner of an account has to read the e-mail. */
export const UNDO_HOURS = 72
const TOKEN_BYTES = 32

type Tools = Pick<Dependencies, 'keys' | 'random'>

const hashOf = ({ keys }: Pick<Dependencies, 'keys'>, token: string) =>
  keys.fingerprint('security_undo', token)

export type UndoKind = 'two_factor_on' | 'email_changed'

type NewUndo = { account_id: string; email: string; kind: UndoKind; now: Date }

/** Answers with the token of the link; it is stored nowhere else. */
export async function createUndo(tx: Tx, tools: Tools, undo: NewUndo): Promise<string> {
  const { account_id, email, kind, now } = undo
  const token = Buffer.from(tools.random.bytes(TOKEN_BYTES)).toString('base64url')
  const expires_at = new Date(now.getTime() + UNDO_HOURS * 60 * 60 * 1_000)
  await tx.run(
    `insert into security_undos (token_hash, account_id, email, kind, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [hashOf(tools, token), account_id, email, kind, now, expires_at],
  )
  return token
}

export type Undo = {
  account_id: string
  email: string
  /** Whether two-factor was turned on so lately that its own link would still undo it. */
  is_two_factor_new: boolean
}

/** What a link leads back to, if it still does. */
export async function findUndo(
  tx: Tx,
  tools: Pick<Dependencies, 'keys'>,
  { token, now }: { token: string; now: Date },
): Promise<Undo | undefined> {
  const [row] = await tx.rows<Undo>(
    `select account_id, email, exists (
              select from security_undos t
               where t.account_id = u.account_id and t.kind = 'two_factor_on'
                 and t.used_at is null and t.expires_at > $2) as is_two_factor_new
       from security_undos u
      where token_hash = $1 and used_at is null and expires_at > $2`,
    [hashOf(tools, token), now],
  )
  return row
}

/** Every link of the account: whoever used one has the account, and the others may be a thief's. */
export async function useUpUndos(tx: Tx, account_id: string, now: Date): Promise<void> {
  await tx.run('update security_undos set used_at = $2 where account_id = $1 and used_at is null', [
    account_id,
    now,
  ])
}
