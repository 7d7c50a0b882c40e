import type { Handler } from '#domain/context/context.ts'
import { findDisputeOf } from './dispute_store.ts'
import { showDispute } from './show_disputes.ts'

export const getDispute: Handler<'get_dispute'> = async ({ tx, caller }, { id }) =>
  showDispute(tx, await findDisputeOf(tx, caller.account_id, id))
