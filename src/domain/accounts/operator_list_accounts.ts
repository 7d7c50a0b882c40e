import type { OperatorHandler } from '#domain/operators/operator.ts'
import { equals, readPage } from '#platform/postgres/page.ts'
import { normalizeEmail } from './account.ts'
import { findAdministeredAccounts } from './administered_account.ts'

export const operatorListAccounts: OperatorHandler<'operator_list_accounts'> = async (
  context,
  input,
) => {
  const email = input.email === undefined ? undefined : normalizeEmail(input.email)
  const page = await readPage<{ id: string }>(context.tx, {
    operation: 'operator_list_accounts',
    prefix: 'acct',
    select: 'select id from accounts',
    where: [
      ...equals('email', email),
      ...equals('id', input.account_id),
      ...equals('status', input.status),
    ],
    input,
  })
  const ids = page.data.map(({ id }) => id)
  const accounts = await findAdministeredAccounts(context, ids)
  const by_id = new Map(accounts.map((account) => [account.id, account]))
  return { ...page, data: page.data.flatMap(({ id }) => by_id.get(id) ?? []) }
}
