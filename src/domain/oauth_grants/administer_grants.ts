import { notFound } from '#contract/common_problems.ts'
import { findGrant, type GrantRow, readGrantPage } from '#domain/credentials/grant_store.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import type { Tx } from '#platform/postgres/db.ts'
import {
  type Condition,
  equals,
  mapPage,
  type PageInput,
  type PageOf,
} from '#platform/postgres/page.ts'
import { endGrant } from './end_grant.ts'
import { grantView } from './grants.ts'

type Grant = ReturnType<typeof grantView>

type GrantFilter = PageInput & { status?: 'active' | 'revoked'; account_id?: string }

const WHERE_STATUS: Record<'active' | 'revoked', Condition> = {
  active: ['revoked_at is null'],
  revoked: ['revoked_at is not null'],
}

export async function findGrantsOfAll(
  { tx }: OperatorContext,
  input: GrantFilter,
): Promise<PageOf<Grant>> {
  const page = await readGrantPage(tx, {
    operation: 'operator.list_grants',
    where: [
      ...(input.status === undefined ? [] : [WHERE_STATUS[input.status]]),
      ...equals('account_id', input.account_id),
    ],
    input,
  })
  return mapPage(page, grantView)
}

/** Revokes a grant permanently. Revoking one that has already ended changes nothing. */
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

async function requireGrant(tx: Tx, id: string): Promise<GrantRow> {
  const grant = await findGrant(tx, id)
  if (grant === undefined) throw notFound('grant')
  return grant
}
