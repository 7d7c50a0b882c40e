import type { Dependencies } from '#domain/context/context.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { endGrantWebhooks } from './end_grant.ts'

/** A client that nobody has allowed anything in a day is not coming back. */
const UNUSED_CLIENT_MS = 24 * 60 * 60 * 1_000
/** Registration is open to all; what nobody uses may not fill the table. */
const UNUSED_CLIENTS_MAX = 10_000
const EXPIRED_KEPT_MS = 24 * 60 * 60 * 1_000

const UNUSED = `model = 'Client'
  and not exists (select from oauth_grants g where g.client_id = oauth_payloads.id)`

/** Drops what is over: tokens, codes, pages, sessions, and clients that were never used. */
export function sweepOauthTask({ db, clock }: Pick<Dependencies, 'db' | 'clock'>): Task {
  return {
    name: 'sweep_oauth',
    every_ms: 60_000,
    pass: async () => {
      const now = clock.now()
      // Kept a while, so that an expired token is told that it expired.
      const expired = new Date(now.getTime() - EXPIRED_KEPT_MS)
      await db.run('delete from oauth_payloads where expires_at < $1', [expired])
      // Pages nobody came back to: anyone can begin one, and nobody asks after it.
      await db.run(`delete from oauth_payloads where model = 'Interaction' and expires_at < $1`, [
        now,
      ])
      await endExpiredGrants(db, clock)
      await db.run('delete from mcp_sessions where expires_at < $1', [now])
      await db.run(`delete from oauth_payloads where ${UNUSED} and created_at < $1`, [
        new Date(now.getTime() - UNUSED_CLIENT_MS),
      ])
      await db.run(
        `delete from oauth_payloads where model = 'Client' and id in (
           select id from oauth_payloads where ${UNUSED} order by created_at desc offset $1)`,
        [UNUSED_CLIENTS_MAX],
      )
      await db.run(
        `delete from oauth_payloads r where model = 'RegistrationAccessToken'
            and not exists (
              select from oauth_payloads c where c.model = 'Client' and c.id = r.client_id)`,
      )
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
