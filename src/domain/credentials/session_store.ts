import { notFound } from '#contract/common_problems.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makePageReader } from '#platform/postgres/page.ts'

export type SessionRow = {
  account_id: string
  id: string
  ip: string
  user_agent: string
  created_at: Date
  expires_at: Date
}

export async function insertSession(
  tx: Tx,
  session: SessionRow,
  bearer_hash: string,
): Promise<void> {
  await tx.run(
    `insert into sessions (account_id, id, bearer_hash, ip, user_agent, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      session.account_id,
      session.id,
      bearer_hash,
      session.ip,
      session.user_agent,
      session.created_at,
      session.expires_at,
    ],
  )
}

/** Includes sessions that have ended. */
export async function hasSessionFrom(tx: Tx, account_id: string, ip: string): Promise<boolean> {
  const [row] = await tx.rows('select 1 from sessions where account_id = $1 and ip = $2 limit 1', [
    account_id,
    ip,
  ])
  return row !== undefined
}

export type ListedSessionRow = SessionRow & { last_used_at: Date | null }

export const readSessionPage = makePageReader<ListedSessionRow>({
  prefix: 'sess',
  select: `select account_id, id, ip, user_agent, created_at, last_used_at, expires_at
             from sessions`,
})

/** A session that ended or expired is not found, like one of another account. */
export async function revokeSessionOf(
  tx: Tx,
  account_id: string,
  id: string,
  now: Date,
): Promise<void> {
  const ended = await tx.run(
    `update sessions set ended_at = $3
      where account_id = $1 and id = $2 and ended_at is null and expires_at > $3`,
    [account_id, id, now],
  )
  if (ended === 0) throw notFound('session')
}

export async function endSession(tx: Tx, account_id: string, id: string, now: Date): Promise<void> {
  await tx.run(
    'update sessions set ended_at = $3 where account_id = $1 and id = $2 and ended_at is null',
    [account_id, id, now],
  )
}

export async function endOtherSessions(
  tx: Tx,
  account_id: string,
  kept_id: string,
  now: Date,
): Promise<void> {
  await tx.run(
    'update sessions set ended_at = $3 where account_id = $1 and id <> $2 and ended_at is null',
    [account_id, kept_id, now],
  )
}

export async function endAllSessions(tx: Tx, account_id: string, now: Date): Promise<void> {
  await tx.run('update sessions set ended_at = $2 where account_id = $1 and ended_at is null', [
    account_id,
    now,
  ])
}
