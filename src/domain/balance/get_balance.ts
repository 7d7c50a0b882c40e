import type { OutputOfName } from '#contract/operations.ts'
import type { Handler } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import { usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { readShared } from '#platform/postgres/shared_reads.ts'
import { type BalanceRow, findBalances } from './balance_store.ts'

export const getBalance: Handler<'get_balance'> = async ({ tx, caller }) => {
  const balance = await readShared(tx, findBalanceViews, caller.account_id)
  assert(balance !== undefined, 'a caller has an account')
  return balance.view
}

/** Builds each view once for all calls that share the statement. */
async function findBalanceViews(tx: Tx, account_ids: readonly string[]) {
  const balances = await findBalances(tx, account_ids)
  return balances.map((balance) => ({ id: balance.id, view: balanceView(balance) }))
}

function balanceView(balance: BalanceRow): OutputOfName<'get_balance'> {
  return {
    asset: 'USDT',
    balance_usd: usdFromMicros(balance.treasury_micros),
    pending_in_usd: usdFromMicros(balance.pending_in_micros),
    pending_out_usd: usdFromMicros(balance.payout_micros),
    cards_usd: usdFromMicros(balance.cards_micros),
    total_usd: usdFromMicros(balance.treasury_micros + balance.cards_micros),
    owed_usd: usdFromMicros(balance.owed_micros),
    updated_at: balance.updated_at.toISOString(),
  }
}
