import type { Task } from '#platform/runtime/tasks.ts'
import { deleteAttemptsBefore } from './attempt_store.ts'
import { disableWebhook } from './disable_webhook.ts'
import type { SystemDependencies } from './webhook_dependencies.ts'
import { deleteExpiredSecrets, findFailingSince } from './webhook_store.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Events can be replayed, and their attempts are listed, for this long. */
export const EVENT_KEPT_MS = 30 * DAY_MS
const FAILING_MAX_MS = 5 * DAY_MS
const BATCH = 1_000

/** Disables webhooks that failed for five days and deletes expired secrets and old attempts. */
export function sweepDeliveriesTask(dependencies: SystemDependencies): Task {
  const { db, clock } = dependencies
  return {
    name: 'sweep_deliveries',
    every_ms: 10_000,
    run: async () => {
      const now = clock.now()
      const ago = (ms: number) => new Date(now.getTime() - ms)
      const failing_before = ago(FAILING_MAX_MS)
      for (const webhook of await findFailingSince(db, failing_before, BATCH)) {
        const input = { ...webhook, reason: 'failing_for_5_days', now, failing_before } as const
        await disableWebhook(dependencies, input)
      }
      await deleteExpiredSecrets(db, now)
      while ((await deleteAttemptsBefore(db, ago(EVENT_KEPT_MS), BATCH)) === BATCH);
    },
  }
}
