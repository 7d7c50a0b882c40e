import { notFound } from '#contract/common_problems.ts'
import { findGrant, type GrantRow } from '#domain/credentials/grant_store.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { endGrant } from './end_grant.ts'
import { grantView } from './grants.ts'

/** Revokes a grant permanently. Revoking one that has already ended changes nothing. */
export const operatorRevokeGrant: OperatorHandler<'operator_revoke_grant'> = async (
  { tx, now, audit, credentialsChanged },
  { id },
) => {
  const { account_id } = await requireGrant(tx, id)
  const entries = await endGrant(tx, id, now)
  for (const entry of entries) audit(account_id, entry)
  if (entries.length > 0) credentialsChanged(account_id)
  return grantView(await requireGrant(tx, id))
}

async function requireGrant(tx: Tx, id: string): Promise<GrantRow> {
  const grant = await findGrant(tx, id)
  if (grant === undefined) throw notFound('grant')
  return grant
}
