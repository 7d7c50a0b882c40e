import type { Handler } from '#domain/context/context.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'
import { withdrawalView } from './withdrawal.ts'
import { pageOfWithdrawals } from './withdrawal_store.ts'

export const listWithdrawals: Handler<'list_withdrawals'> = async ({ tx, caller }, input) => {
  const where: Condition[] = [
    ['account_id = ?', caller.account_id],
    ['refund_of is null'],
    ...anyOf('status', input.status),
    ...anyOf('address', input.address),
    ...withTxids(input.txid),
    ...anyOf('client_id', input.agent),
  ]
  const page = await pageOfWithdrawals(tx, { operation: 'list_withdrawals', input, where })
  return { ...page, data: page.data.map(withdrawalView) }
}

/** The txid of a signed transfer is hidden until it is sent, so the filter ignores it too. */
function withTxids(list: string | undefined): Condition[] {
  if (list === undefined) return []
  return [['broadcasted_at is not null'], ...anyOf('txid', list.toLowerCase())]
}
