import type { Dependencies } from '#domain/context/context.ts'
import {
  deleteExpiredPayloads,
  deleteUnusedClients,
} from '#domain/credentials/oauth_payload_store.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { endGrantWebhooks } from './end_grant.ts'
import { deleteExpiredMcpSessions } from './mcp_session_store.ts'

/** A client that nobody has allowed anything in a day is not coming back. */
const UNUSED_CLIENT_MS = 24 * 60 * 60 * 1_000
/** Registration is open to all; what nobody uses may not fill the table. */
const UNUSED_CLIENTS_MAX = 10_000
const EXPIRED_KEPT_MS = 24 * 60 * 60 * 1_000

/** Drops what is over: tokens, codes, pages, sessions, and clients that were never used. */
export function sweepOauthTask({ db, clock }: Pick<Dependencies, 'db' | 'clock'>): Task {
  return {
    name: 'sweep_oauth',
    every_ms: 60_000,
    run: async () => {
      const now = clock.now()
      // Kept a while, so that an expired token is told that it expired.
      const expired = new Date(now.getTime() - EXPIRED_KEPT_MS)
      await deleteExpiredPayloads(db, { before: expired })
      // Anyone can open a consent page, so abandoned ones are not kept.
      await deleteExpiredPayloads(db, { before: now, model: 'Interaction' })
      await endExpiredGrants(db, clock)
      await deleteExpiredMcpSessions(db, now)
      await deleteUnusedClients(db, {
        before: new Date(now.getTime() - UNUSED_CLIENT_MS),
        kept_max: UNUSED_CLIENTS_MAX,
      })
    },
  }
}

/** A grant that nobody renewed ends like one that was revoked, with its webhooks. */
async function endExpiredGrants(db: Database, clock: Clock): Promise<void> {
  const now = clock.now()
  const expired = await db.rows<{ id: string }>(
    `select distinct g.id from oauth_grants g join webhooks w on w.grant_id = g.id
      where g.expires_at <= $1 and g.revoked_at is null and w.status = 'enabled' limit 100`,
    [now],
  )
  for (const { id } of expired) await db.transaction((tx) => endGrantWebhooks(tx, id, now))
}
