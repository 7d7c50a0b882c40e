import type { Handler } from '#platform/context.ts'
import { gather } from '#platform/lanes.ts'
import { accountView } from './account.ts'
import { findAccounts, requireFound } from './account_store.ts'

export const getAccount: Handler<'get_account'> = async ({ tx, caller, settings }) => {
  const account = requireFound(await gather(tx, findAccounts, caller.account_id))
  return accountView(account, account, settings.mode === 'live')
}
