import {
  deleteClients,
  deleteExpiredPayloads,
  findUnusedClients,
  findUsedClients,
} from '#domain/credentials/oauth_payload_store.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { endGrantWebhooks } from './end_grant.ts'
import { deleteExpiredMcpSessions } from './mcp_session_store.ts'

/** Clients without a grant are deleted after a day. */
const UNUSED_CLIENT_MS = 24 * 60 * 60 * 1_000
/** Registration is open to anyone, so unused clients must not fill the table. */
const UNUSED_CLIENTS_MAX = 10_000
const EXPIRED_KEPT_MS = 24 * 60 * 60 * 1_000

type SweepDependencies = { db: Database; clock: Clock; cellDatabases(): readonly Tx[] }

/** Deletes expired tokens, codes, interactions and sessions, and unused clients. */
export function sweepOauthTask({ db, clock, cellDatabases }: SweepDependencies): Task {
  return {
    name: 'sweep_oauth',
    every_ms: 60_000,
    run: async () => {
      const now = clock.now()
      // Kept for a day, so an expired token gets token_expired instead of invalid_token.
      const expired = new Date(now.getTime() - EXPIRED_KEPT_MS)
      await deleteExpiredPayloads(db, { before: expired })
      // Anyone can open a consent page, so abandoned ones are not kept.
      await deleteExpiredPayloads(db, { before: now, model: 'Interaction' })
      await endExpiredGrants(db, clock)
      await deleteExpiredMcpSessions(db, now)
      await deleteUnusedClients(db, cellDatabases(), now)
    },
  }
}

/** Clients are in cell 0, but an account of any cell may have given one a grant. */
async function deleteUnusedClients(db: Tx, cells: readonly Tx[], now: Date): Promise<void> {
  const before = new Date(now.getTime() - UNUSED_CLIENT_MS)
  const unused = await findUnusedClients(db, { before, kept_max: UNUSED_CLIENTS_MAX })
  const used = new Set<string>()
  for (const cell of unused.length === 0 ? [] : cells) {
    for (const id of await findUsedClients(cell, unused)) used.add(id)
  }
  await deleteClients(
    db,
    unused.filter((id) => !used.has(id)),
  )
}

/** An expired grant loses its webhooks, like a revoked one. */
async function endExpiredGrants(db: Database, clock: Clock): Promise<void> {
  const now = clock.now()
  const expired = await db.rows<{ id: string }>(
    `select distinct g.id from oauth_grants g join webhooks w on w.grant_id = g.id
      where g.expires_at <= $1 and g.revoked_at is null and w.status = 'enabled' limit 100`,
    [now],
  )
  for (const { id } of expired) await db.transaction((tx) => endGrantWebhooks(tx, id, now))
}
