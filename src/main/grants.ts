import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { findGrant, listGrantRows } from '#domain/credentials/grant_store.ts'
import { endGrant } from '#domain/oauth_grants/end_grant.ts'
import { grantView } from '#domain/oauth_grants/grants.ts'
import { idMaker } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'

/** For commands outside the service. */
export type Grant = ReturnType<typeof grantView>

const GRANTS_MAX = 1_000

export async function listGrants(db: Database, account_id: string | null): Promise<Grant[]> {
  return (await listGrantRows(db, { account_id, limit: GRANTS_MAX })).map(grantView)
}

/** Running nodes are notified. Undefined if there is no such grant. */
export async function revokeGrantById(db: Database, id: string): Promise<Grant | undefined> {
  const grant = await findGrant(db, id)
  if (grant === undefined) return undefined
  await db.transaction(async (tx) => {
    const entries = await endGrant(tx, id, systemClock().now())
    if (entries.length === 0) return
    await notifyCredentialsChanged(tx, grant.account_id)
    await recordAudit(tx, grant.account_id, entries, auditContext())
  })
  const ended = await findGrant(db, id)
  return ended && grantView(ended)
}

function auditContext(): AuditContext {
  const makeId = idMaker(systemRandom.bytes)
  return {
    actor_type: 'operator',
    actor_id: null,
    actor_name: 'florin grants',
    operation: null,
    ip: null,
    user_agent: null,
    request_id: null,
    stamp: () => {
      const created_at = systemClock().now()
      return { id: makeId('aud', created_at.getTime()), created_at }
    },
  }
}
