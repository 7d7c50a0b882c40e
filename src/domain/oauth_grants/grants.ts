import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import { findGrant, type GrantRow } from '#domain/credentials/grant_store.ts'
import { endGrant } from './end_grant.ts'

type Needs = Pick<Dependencies, 'db' | 'clock'> & { credentials: Credentials }

/**
 * Ends a grant permanently, with every token and webhook under it, on every node. `facts` say who
 * did it. Undefined where there is no such grant, or none of that account.
 */
export async function revokeGrant(
  { db, clock, credentials }: Needs,
  id: string,
  { account_id, facts }: { account_id: string | null; facts: AuditContext },
): Promise<GrantRow | undefined> {
  const grant = await findGrant(db, id)
  if (grant === undefined || (account_id !== null && grant.account_id !== account_id)) {
    return undefined
  }
  await db.transaction(async (tx) => {
    const entries = await endGrant(tx, id, clock.now())
    if (entries.length === 0) return
    await notifyCredentialsChanged(tx, grant.account_id)
    await recordAudit(tx, grant.account_id, entries, facts)
  })
  credentials.forget(grant.account_id)
  return findGrant(db, id)
}

export function grantView(grant: GrantRow) {
  const scopes = new Set(Object.values(grant.payload.resources).flatMap((text) => text.split(' ')))
  return {
    id: grant.id,
    account_id: grant.account_id,
    client_id: grant.client_id,
    client_name: grant.client_name,
    status: grant.revoked_at === null ? 'active' : 'revoked',
    scopes: [...scopes].filter((scope) => scope !== '').sort(),
    resources: Object.keys(grant.payload.resources),
    card_ids: grant.card_ids,
    card_actions: grant.card_actions,
    last_used_at: grant.last_used_at?.toISOString() ?? null,
    last_used_ip: grant.last_used_ip,
    created_at: grant.created_at.toISOString(),
    updated_at: grant.updated_at.toISOString(),
    expires_at: grant.expires_at.toISOString(),
    revoked_at: grant.revoked_at?.toISOString() ?? null,
  }
}
