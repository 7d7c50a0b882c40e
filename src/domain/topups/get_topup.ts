import type { Handler } from '#domain/context/context.ts'
import { makeTopupView } from './topup.ts'
import { findTopupOf } from './topup_store.ts'

export const getTopup: Handler<'get_topup'> = async ({ tx, caller, settings }, { id }) =>
  makeTopupView(settings)(await findTopupOf(tx, caller.account_id, id))
