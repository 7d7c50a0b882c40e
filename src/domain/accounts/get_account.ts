import type { Account } from '#contract/accounts.ts'
import type { Handler } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { readShared } from '#platform/postgres/shared_reads.ts'
import { accountView } from './account.ts'
import { findAccounts, requireFound } from './account_store.ts'

/** Shown once for all who share the statement. */
const shownAs = (livemode: boolean) => async (tx: Tx, ids: readonly string[]) =>
  (await findAccounts(tx, ids)).map((account): Account => accountView(account, account, livemode))

const accounts_in = { live: shownAs(true), sandbox: shownAs(false) }

export const getAccount: Handler<'get_account'> = async ({ tx, caller, settings }) =>
  requireFound(await readShared(tx, accounts_in[settings.mode], caller.account_id))
