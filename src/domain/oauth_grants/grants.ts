import { type AuditContext, recordAudit } from '#domain/audit/audit.ts'
import { type Budget, detailOf } from '#domain/budgets/budget.ts'
import { setBudget } from '#domain/budgets/set_budget.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import type { Credentials } from '#domain/credentials/credentials.ts'
import { findGrant, type GrantRow, saveBudgetDetail } from '#domain/credentials/grant_store.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import { endGrant } from './end_grant.ts'

type RevocationDependencies = { db: Database; clock: Clock; credentials: Credentials }

/**
 * Revokes a grant permanently with its tokens and webhooks, on every node. Returns undefined if it
 * does not exist or, with an account_id, belongs to another account.
 */
export async function revokeGrant(
  { db, clock, credentials }: RevocationDependencies,
  id: string,
  { account_id, audit_context }: { account_id: string | null; audit_context: AuditContext },
): Promise<GrantRow | undefined> {
  const grant = await findGrant(db, id)
  if (grant === undefined || (account_id !== null && grant.account_id !== account_id)) {
    return undefined
  }
  await db.transaction(async (tx) => {
    const entries = await endGrant(tx, id, clock.now())
    if (entries.length === 0) return
    await notifyCredentialsChanged(tx, grant.account_id)
    await recordAudit(tx, grant.account_id, entries, audit_context)
  })
  credentials.forget(grant.account_id)
  return findGrant(db, id)
}

type BudgetChange = { account_id: string; budget: Budget | null; audit_context: AuditContext }

/** Changes or removes the budget without a new consent. False if the account has no such grant. */
export async function changeBudget(
  { db, clock }: Pick<RevocationDependencies, 'db' | 'clock'>,
  id: string,
  { account_id, budget, audit_context }: BudgetChange,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    const client_id = await saveBudgetDetail(
      tx,
      { account_id, id },
      {
        detail: budget === null ? null : detailOf(budget),
        now,
      },
    )
    if (client_id === undefined) return false
    await setBudget(tx, { account_id, client_id, grant_id: id }, { budget, now })
    const entry = { action: 'oauth.budget_changed', resource: { type: 'grant', id } }
    await recordAudit(tx, account_id, [entry], audit_context)
    return true
  })
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
