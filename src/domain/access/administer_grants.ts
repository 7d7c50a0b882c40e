import { Problem } from '#contract/problem.ts'
import { findGrant, type GrantRow, listGrantRows, markRevoked } from './grant_store.ts'
import { grantView } from './grants.ts'
import type { OperatorContext } from './operator.ts'

type Grant = ReturnType<typeof grantView>

/** What agents were allowed, for those who run the programme; newest first. */
export async function findGrantsOfAll(
  { tx }: OperatorContext,
  { account_id = null, limit = 100 }: { account_id?: string | null; limit?: number },
): Promise<{ data: Grant[] }> {
  return { data: (await listGrantRows(tx, { account_id, limit })).map(grantView) }
}

/** Ends a grant for good; ending one that is over changes nothing. */
export async function revokeByOperator(
  { tx, now, audit, credentialsChanged }: OperatorContext,
  { id }: { id: string },
): Promise<Grant> {
  const { account_id } = await requireGrant(tx, id)
  if (await markRevoked(tx, id, now)) {
    audit(account_id, { action: 'oauth.revoked', resource: { type: 'grant', id } })
    credentialsChanged(account_id)
  }
  return grantView(await requireGrant(tx, id))
}

async function requireGrant(tx: OperatorContext['tx'], id: string): Promise<GrantRow> {
  const grant = await findGrant(tx, id)
  if (grant === undefined) throw new Problem('not_found', 'There is no such grant.')
  return grant
}
