import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import { formatUsd } from '#kernel/money.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { closeTopup } from './deposits.ts'
import { makeTopupView, requireCancellable, topupReference } from './topup.ts'
import type { TopupDependencies } from './topup_dependencies.ts'
import { findExpired, lockTopupOf, updateTopup } from './topup_store.ts'

export function expireTopupsTask(dependencies: TopupDependencies): Task {
  return {
    name: 'expire_topups',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: async () => {
      const { db, clock } = dependencies
      const due = await findExpired(db, clock.now())
      for (const { account_id, id } of due) await expireTopup(dependencies, account_id, id)
    },
  }
}

/** Does nothing if the top-up is no longer awaiting or its window is still open. */
async function expireTopup(
  dependencies: TopupDependencies,
  account_id: string,
  id: string,
): Promise<void> {
  const { db, clock, settings } = dependencies
  const now = clock.now()
  await db.transaction(async (tx) => {
    const topup = await lockTopupOf(tx, account_id, id)
    if (topup.status !== 'awaiting' || topup.expires_at > now) return
    const expired = await updateTopup(tx, closeTopup(topup, 'expired', topup.expires_at), now)
    await emitAsSystem(tx, dependencies, account_id, {
      events: [
        {
          type: 'topup.expired',
          message: `Your ${formatUsd(expired.amount_micros)} top-up expired.`,
          resource: topupReference(id),
          object: makeTopupView(settings)(expired),
          severity: 'warning',
          amount_micros: expired.amount_micros,
        },
      ],
    })
  })
}

/** Closes the window now and expires the top-up; the sandbox uses it. */
export async function closeWindow(
  dependencies: TopupDependencies,
  account_id: string,
  id: string,
): Promise<void> {
  const { db, clock } = dependencies
  const now = clock.now()
  await db.transaction(async (tx) => {
    const topup = await lockTopupOf(tx, account_id, id)
    requireCancellable(topup)
    await updateTopup(tx, { ...topup, expires_at: now }, now)
  })
  await expireTopup(dependencies, account_id, id)
}
