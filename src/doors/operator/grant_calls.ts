import Type from 'typebox'
import { Id, Input } from '#contract/shapes.ts'
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
      account_id: AccountFilter,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'At most.' })),
    }),
    output: Type.Object({ data: Type.Array(Grant) }),
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
