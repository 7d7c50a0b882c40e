import { assert } from '#kernel/assert.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Handler } from '#platform/context.ts'
import { gather } from '#platform/lanes.ts'
import { findBalances } from './balance_store.ts'

export const getBalance: Handler<'get_balance'> = async ({ tx, caller }) => {
  const balance = await gather(tx, findBalances, caller.account_id)
  assert(balance !== undefined, 'a caller has an account')
  return {
    asset: 'USDT',
    balance_usd: usdFromMicros(balance.treasury_micros),
    pending_in_usd: usdFromMicros(balance.pending_in_micros),
    pending_out_usd: usdFromMicros(balance.payout_micros),
    cards_usd: usdFromMicros(balance.cards_micros),
    total_usd: usdFromMicros(balance.treasury_micros + balance.cards_micros),
    updated_at: balance.updated_at.toISOString(),
  }
}
