import { KEY_OF_NUMBER } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** Held by a command that archives months or moves the database: rows can't leave in two ways. */
const ARCHIVE_LOCK = 7_310_267

/** Ends with the session, so a command that dies leaves nothing locked. */
export async function takeArchiveLock(session: Tx): Promise<boolean> {
  const [row] = await session.rows<{ is_free: boolean }>(
    `select pg_try_advisory_lock(${KEY_OF_NUMBER}) as is_free`,
    [ARCHIVE_LOCK],
  )
  return row?.is_free === true
}

export async function releaseArchiveLock(session: Tx): Promise<void> {
  await session.rows(`select pg_advisory_unlock(${KEY_OF_NUMBER})`, [ARCHIVE_LOCK])
}
