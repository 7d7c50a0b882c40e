import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { expireChallengesOfGrant } from '#domain/authorizations/challenge_store.ts'
import type { NewAuditEntry } from '#domain/context/context.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import { lockLiveGrantOf, saveGrantResources } from '#domain/credentials/grant_store.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import { endGrant, endGrantWebhooks } from './end_grant.ts'

type ScopeDependencies = { db: Database; clock: Clock; credentials: Credentials }
type ScopeChange = { account_id: string; scope: string; audit_context: AuditContext }

/**
 * Takes one scope from a grant, on every node and from tokens issued before. A grant that would
 * have no scope left ends. False if the account has no such active grant, or it lacks the scope.
 */
export async function removeScope(
  { db, clock, credentials }: ScopeDependencies,
  id: string,
  { account_id, scope, audit_context }: ScopeChange,
): Promise<boolean> {
  const isRemoved = await db.transaction(async (tx) => {
    const now = clock.now()
    const grant = await lockLiveGrantOf(tx, { account_id, id, now })
    if (grant === undefined) return false
    const before = Object.entries(grant.payload.resources)
    if (!before.some(([, text]) => text.split(' ').includes(scope))) return false
    const resources = Object.fromEntries(before.map(([url, text]) => [url, without(text, scope)]))
    const isEmpty = Object.values(resources).every((text) => text === '')
    if (!isEmpty) await saveGrantResources(tx, { account_id, id }, { resources, now })
    const entries = isEmpty ? await endGrant(tx, id, now) : await endUsesOf(tx, { id, scope, now })
    await notifyCredentialsChanged(tx, account_id)
    await recordAudit(tx, account_id, entries, audit_context)
    return true
  })
  if (isRemoved) credentials.forget(account_id)
  return isRemoved
}

const without = (text: string, scope: string): string =>
  text
    .split(' ')
    .filter((each) => each !== scope)
    .join(' ')

/** Webhooks and 3-D Secure challenges must not outlive the scope they were created with. */
async function endUsesOf(
  tx: Tx,
  { id, scope, now }: { id: string; scope: string; now: Date },
): Promise<NewAuditEntry[]> {
  const ended = scope === 'webhook:write' ? await endGrantWebhooks(tx, id, now) : []
  if (scope === 'card:control') await expireChallengesOfGrant(tx, id)
  return [{ action: 'oauth.scope_removed', resource: { type: 'grant', id } }, ...ended]
}
