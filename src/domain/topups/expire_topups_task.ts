import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { closeTopup } from './deposits.ts'
import { requireCancellable, topupReference, makeTopupView } from './topup.ts'
import { findExpired, lockTopupOf, updateTopup } from './topup_store.ts'

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

export function expireTopupsTask(parts: Parts): Task {
  return {
    name: 'expire_topups',
    every_ms: 1_000,
    idle_ms: 5_000,
    pass: async () => {
      const due = await findExpired(parts.db, parts.clock.now())
      for (const { account_id, id } of due) await expireTopup(parts, account_id, id)
    },
  }
}

/** Does nothing to a top-up that is no longer awaited or whose time has not come. */
async function expireTopup(parts: Parts, account_id: string, id: string): Promise<void> {
  const now = parts.clock.now()
  await parts.db.transaction(async (tx) => {
    const topup = await lockTopupOf(tx, account_id, id)
    if (topup.status !== 'awaiting' || topup.expires_at > now) return
    const expired = await updateTopup(tx, closeTopup(topup, 'expired', topup.expires_at), now)
    await emitAsSystem(tx, parts, account_id, {
      events: [
        {
          type: 'topup.expired',
          message: 'A deposit address expired. Later deposits are still credited.',
          resource: topupReference(id),
          object: makeTopupView(parts.settings)(expired),
          severity: 'warning',
          amount_micros: expired.amount_micros,
        },
      ],
    })
  })
}

/** Ends the window now, as if its time had passed. */
export async function closeWindow(parts: Parts, account_id: string, id: string): Promise<void> {
  const now = parts.clock.now()
  await parts.db.transaction(async (tx) => {
    const topup = await lockTopupOf(tx, account_id, id)
    requireCancellable(topup)
    await updateTopup(tx, { ...topup, expires_at: now }, now)
  })
  await expireTopup(parts, account_id, id)
}
