import type { Handler } from '#domain/context/context.ts'
import { withdrawalView } from './withdrawal.ts'
import { findWithdrawalOf } from './withdrawal_store.ts'

export const getWithdrawal: Handler<'get_withdrawal'> = async ({ tx, caller }, { id }) =>
  withdrawalView(await findWithdrawalOf(tx, caller.account_id, id))
