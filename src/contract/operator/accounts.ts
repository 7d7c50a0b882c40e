import Type from 'typebox'
import { Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { operatorOperation } from './operation.ts'
import {
  AccountFilter,
  AdministeredAccount,
  Grant,
  limitChanges,
  listed,
  RateProfile,
} from './shapes.ts'

const AccountId = Id('acct', 'ID of the account.')

export const operator_list_accounts = operatorOperation({
  name: 'operator_list_accounts',
  method: 'GET',
  path: '/accounts',
  role: 'viewer',
  summary: 'List accounts, or find one by email or ID.',
  input: Input({
    ...pageQuery,
    email: Type.Optional(Type.String({ maxLength: 254, description: 'Full email address.' })),
    account_id: AccountFilter,
    status: Type.Optional(
      StringEnum(['active', 'suspended'], { description: 'Status to include.' }),
    ),
  }),
  output: Page(AdministeredAccount),
})

export const operator_get_account = operatorOperation({
  name: 'operator_get_account',
  method: 'GET',
  path: '/accounts/{id}',
  role: 'viewer',
  summary: 'Get an account with its own limits.',
  input: Input({ id: AccountId }),
  output: AdministeredAccount,
})

export const operator_suspend_account = operatorOperation({
  name: 'operator_suspend_account',
  method: 'POST',
  path: '/accounts/{id}/suspend',
  role: 'risk',
  summary: 'Suspend an account: its credentials stop working and its cards decline.',
  input: Input({ id: AccountId }),
  output: AdministeredAccount,
})

export const operator_reinstate_account = operatorOperation({
  name: 'operator_reinstate_account',
  method: 'POST',
  path: '/accounts/{id}/reinstate',
  role: 'risk',
  summary: 'Lift the suspension of an account.',
  input: Input({ id: AccountId }),
  output: AdministeredAccount,
})

export const operator_set_account_limits = operatorOperation({
  name: 'operator_set_account_limits',
  method: 'PATCH',
  path: '/accounts/{id}/limits',
  role: 'risk',
  summary: "Set an account's spend limits and rate profile.",
  input: Input({ id: AccountId, rate_profile: Type.Optional(RateProfile), ...limitChanges }),
  output: AdministeredAccount,
})

export const operator_list_grants = operatorOperation({
  name: 'operator_list_grants',
  method: 'GET',
  path: '/grants',
  role: 'viewer',
  summary: 'List the access that accounts have granted to OAuth clients.',
  input: Input({
    ...pageQuery,
    status: Type.Optional(StringEnum(['active', 'revoked'], { description: 'Status to include.' })),
    account_id: AccountFilter,
  }),
  output: Page(listed(Grant)),
})

export const operator_revoke_grant = operatorOperation({
  name: 'operator_revoke_grant',
  method: 'POST',
  path: '/grants/{id}/revoke',
  role: 'risk',
  summary: "Revoke an OAuth client's access immediately.",
  input: Input({ id: Id('grant', 'ID of the grant.') }),
  output: Grant,
})
