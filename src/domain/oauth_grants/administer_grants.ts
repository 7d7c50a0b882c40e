import { notFound } from '#contract/common_problems.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { type Condition, equals, type PageInput, type PageOf } from '#platform/postgres/page.ts'
import { endGrant } from './end_grant.ts'
import { findGrant, type GrantRow, pageOfGrants } from './grant_store.ts'
import { grantView } from './grants.ts'

type Grant = ReturnType<typeof grantView>

type Wanted = PageInput & { status?: 'active' | 'revoked'; account_id?: string }

const inState: Record<'active' | 'revoked', Condition> = {
  active: ['revoked_at is null'],
  revoked: ['revoked_at is not null'],
}

/** What agents were allowed, for those who run the programme. */
export async function findGrantsOfAll(
  { tx }: OperatorContext,
  input: Wanted,
): Promise<PageOf<Grant>> {
  const page = await pageOfGrants(tx, input, [
    ['id is not null'],
    ...(input.status === undefined ? [] : [inState[input.status]]),
    ...equals('account_id', input.account_id),
  ])
  return { ...page, data: page.data.map(grantView) }
}

/** Ends a grant for good; ending one that is over changes nothing. */
export async function revokeByOperator(
  { tx, now, audit, credentialsChanged }: OperatorContext,
  { id }: { id: string },
): Promise<Grant> {
  const { account_id } = await requireGrant(tx, id)
  const entries = await endGrant(tx, id, now)
  for (const entry of entries) audit(account_id, entry)
  if (entries.length > 0) credentialsChanged(account_id)
  return grantView(await requireGrant(tx, id))
}

async function requireGrant(tx: OperatorContext['tx'], id: string): Promise<GrantRow> {
  const grant = await findGrant(tx, id)
  if (grant === undefined) throw notFound('grant')
  return grant
}
