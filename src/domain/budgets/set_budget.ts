import type { Tx } from '#platform/postgres/db.ts'
import type { Budget } from './budget.ts'
import {
  type ClientKey,
  deleteBudget,
  type GrantKey,
  lockUsage,
  saveBudget,
  saveUsage,
} from './budget_store.ts'

/** Sets, changes or removes the budget of a grant. Its usage stays. */
export async function setBudget(
  tx: Tx,
  key: GrantKey & ClientKey,
  { budget, now }: { budget: Budget | null; now: Date },
): Promise<void> {
  await lockUsage(tx, key, now)
  if (budget === null) await deleteBudget(tx, key)
  else await saveBudget(tx, key, { budget, now })
}

/** A client that gets access again, after all its grants ended, has a new total. */
export async function restartTotal(tx: Tx, key: ClientKey, now: Date): Promise<void> {
  const usage = await lockUsage(tx, key, now)
  await saveUsage(tx, key, { ...usage, total_micros: 0n, total_from: now })
}
