import type { Task } from '#platform/runtime/tasks.ts'
import type { Deliverer } from './deliverer.ts'

/**
 * A pass starts what is due and does not wait for it: an endpoint that takes 15 seconds must not
 * hold back the next pass. New deliveries wake the deliverer by notice; the beat is for retries.
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
