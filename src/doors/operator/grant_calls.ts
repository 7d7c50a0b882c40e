import Type from 'typebox'
import { Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { operatorCall } from './operator_call.ts'
import { AccountFilter, Grant } from './shapes.ts'

/** What agents were allowed. */
export const grant_calls = {
  list_grants: operatorCall({
    name: 'list_grants',
    method: 'GET',
    path: '/grants',
    role: 'viewer',
    summary: 'What accounts have allowed agents.',
    input: Input({
      ...pageQuery,
      status: Type.Optional(StringEnum(['active', 'revoked'], { description: 'Only those.' })),
      account_id: AccountFilter,
    }),
    output: Page(Grant),
  }),
  revoke_grant: operatorCall({
    name: 'revoke_grant',
    method: 'POST',
    path: '/grants/{id}/revoke',
    role: 'risk',
    summary: "End an agent's grant, at once.",
    input: Input({ id: Id('grant', 'The grant.') }),
    output: Grant,
  }),
} as const
