import type { Task } from '#platform/runtime/tasks.ts'
import type { Deliverer } from './deliverer.ts'

/**
 * Starts the due attempts without waiting for them, because an endpoint may take 15 seconds. New
 * deliveries wake the deliverer with NOTIFY; the interval is for retries.
 */
export function deliverWebhooksTask(deliverer: Deliverer): Task {
  return {
    name: 'deliver_webhooks',
    every_ms: 1_000,
    idle_ms: 3_000,
    at_start: true,
    run: () => deliverer.wake(),
  }
}
