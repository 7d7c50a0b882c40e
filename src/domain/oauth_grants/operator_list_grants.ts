import { withEmails } from '#domain/accounts/account_emails.ts'
import { PANEL_CLIENT_ID, readGrantPage } from '#domain/credentials/grant_store.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { type Condition, equals, mapPage } from '#platform/postgres/page.ts'
import { grantView } from './grants.ts'

const WHERE_STATUS: Record<'active' | 'revoked', Condition> = {
  active: ['revoked_at is null'],
  revoked: ['revoked_at is not null'],
}

export const operatorListGrants: OperatorHandler<'operator_list_grants'> = async (
  { tx },
  input,
) => {
  const page = await readGrantPage(tx, {
    operation: 'operator_list_grants',
    where: [
      ['client_id <> ?', PANEL_CLIENT_ID],
      ...(input.status === undefined ? [] : [WHERE_STATUS[input.status]]),
      ...equals('account_id', input.account_id),
    ],
    input,
  })
  return withEmails(tx, mapPage(page, grantView))
}
