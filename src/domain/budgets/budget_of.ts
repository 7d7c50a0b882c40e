import type { SystemLimits } from '#contract/system.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { budgetView, unusedAt, usageAt } from './budget.ts'
import { findBudget, findUsage, findUsedBudgets } from './budget_store.ts'

/** The budget of the calling app; null if it has none, and for the owner's own credentials. */
export async function budgetOf(
  tx: Tx,
  { account_id, id: client_id, grant_id }: Caller,
  now: Date,
): Promise<SystemLimits['budget']> {
  if (grant_id === undefined) return null
  const budget = await findBudget(tx, { account_id, grant_id })
  if (budget === undefined) return null
  const usage = (await findUsage(tx, { account_id, client_id })) ?? unusedAt(now)
  return budgetView(budget, usageAt(usage, now))
}

/** The budgets of the account's grants, by grant. */
export async function budgetsOfGrants(
  tx: Tx,
  account_id: string,
  now: Date,
): Promise<Map<string, NonNullable<SystemLimits['budget']>>> {
  const rows = await findUsedBudgets(tx, account_id, now)
  return new Map(rows.map((row) => [row.grant_id, budgetView(row, usageAt(row, now))]))
}
