import type { Handler } from '#platform/context.ts'
import { viewIn } from './topup.ts'
import { findTopupOf } from './topup_store.ts'

export const getTopup: Handler<'get_topup'> = async ({ tx, caller, settings }, { id }) =>
  viewIn(settings)(await findTopupOf(tx, caller.account_id, id))
