import type { Account } from '#contract/accounts.ts'
import type { Handler } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { readShared } from '#platform/postgres/shared_reads.ts'
import { accountView } from './account.ts'
import { assertFound, findAccounts } from './account_store.ts'

/** Calls that share a statement also share the view. */
const loadViews = (livemode: boolean) => async (tx: Tx, ids: readonly string[]) =>
  (await findAccounts(tx, ids)).map((account): Account => accountView(account, account, livemode))

const load_views_by_mode = { live: loadViews(true), sandbox: loadViews(false) }

export const getAccount: Handler<'get_account'> = async ({ tx, caller, settings }) =>
  assertFound(await readShared(tx, load_views_by_mode[settings.mode], caller.account_id))
