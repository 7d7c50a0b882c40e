import type { Tx } from '#platform/postgres/db.ts'

/** Stored under the first hash and found by any of them, for key rotations. */
export type McpSession = { id_hashes: readonly string[]; account_id: string; credential: string }

export async function insertMcpSession(
  tx: Tx,
  session: McpSession,
  expires_at: Date,
): Promise<void> {
  await tx.run(
    `insert into mcp_sessions (id_hash, account_id, credential, expires_at)
     values ($1, $2, $3, $4)`,
    [session.id_hashes[0], session.account_id, session.credential, expires_at],
  )
}

export async function hasMcpSession(tx: Tx, session: McpSession, now: Date): Promise<boolean> {
  const rows = await tx.rows(
    `select 1 from mcp_sessions
      where id_hash = any($1) and account_id = $2 and credential = $3 and expires_at > $4`,
    [session.id_hashes, session.account_id, session.credential, now],
  )
  return rows.length === 1
}

/** Returns false if there was none. */
export async function deleteMcpSession(tx: Tx, session: McpSession): Promise<boolean> {
  const deleted = await tx.run(
    'delete from mcp_sessions where id_hash = any($1) and account_id = $2 and credential = $3',
    [session.id_hashes, session.account_id, session.credential],
  )
  return deleted === 1
}

export async function deleteExpiredMcpSessions(tx: Tx, now: Date): Promise<void> {
  await tx.run('delete from mcp_sessions where expires_at < $1', [now])
}
