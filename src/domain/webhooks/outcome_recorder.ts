import { type AttemptOutcome, GONE } from './attempt.ts'
import { type CompletedAttempt, type LeasedDelivery, recordAttempts } from './delivery_store.ts'
import { disableWebhook } from './disable_webhook.ts'
import { nextAttemptAt } from './schedule.ts'
import type { DeliveryDependencies } from './webhook_dependencies.ts'

const BATCH_MAX = 500
/** Outcomes are collected this long, because recording one costs as much as recording fifty. */
const DELAY_MS = 20

/** Records the outcomes of a node's attempts, many in one statement. */
export class OutcomeRecorder {
  readonly #dependencies: DeliveryDependencies
  readonly #onRecorded: (recorded: readonly CompletedAttempt[]) => void
  #outcomes: CompletedAttempt[] = []
  #recording: Promise<void> | undefined

  /** The callback also gets outcomes that could not be recorded. */
  constructor(
    dependencies: DeliveryDependencies,
    onRecorded: (recorded: readonly CompletedAttempt[]) => void,
  ) {
    this.#dependencies = dependencies
    this.#onRecorded = onRecorded
  }

  add(delivery: LeasedDelivery, outcome: AttemptOutcome): void {
    this.#outcomes.push(this.#completedAttempt(delivery, outcome))
    this.#recording ??= this.#recordAll().finally(() => {
      this.#recording = undefined
    })
  }

  /** Resolves when every outcome is recorded. */
  async finish(): Promise<void> {
    await this.#recording
  }

  /** If recording fails, the rows stay due after their lease and are sent again. */
  async #recordAll(): Promise<void> {
    const { db, clock, log, metrics, fail } = this.#dependencies
    while (this.#outcomes.length > 0) {
      await clock.sleep(DELAY_MS)
      const completed = this.#outcomes.splice(0, BATCH_MAX)
      try {
        await db.transaction((tx) => recordAttempts(tx, completed))
        fail('delivery_recorded')
        for (const status of ['succeeded', 'failed'] as const) {
          const count = completed.filter((one) => one.status === status).length
          if (count > 0) metrics.webhook_attempts.inc({ status }, count)
        }
        await this.#disableGone(completed)
      } catch (cause) {
        log.error('could not record delivery attempts', { count: completed.length }, cause)
      }
      this.#onRecorded(completed)
    }
  }

  async #disableGone(completed: readonly CompletedAttempt[]): Promise<void> {
    for (const { account_id, webhook_id, url, response_status } of completed) {
      if (response_status !== GONE) continue
      const now = this.#dependencies.clock.now()
      const input = { account_id, id: webhook_id, url, reason: 'endpoint_gone', now } as const
      await disableWebhook(this.#dependencies, input)
    }
  }

  #completedAttempt(delivery: LeasedDelivery, outcome: AttemptOutcome): CompletedAttempt {
    const { clock, random } = this.#dependencies
    const { status, retry_after_ms } = outcome
    const nextAt = () =>
      nextAttemptAt({ attempts: delivery.attempts + 1, retry_after_ms, now: clock.now(), random })
    // Written out, because object spreads took a tenth of the CPU of a delivery.
    return {
      account_id: delivery.account_id,
      webhook_id: delivery.webhook_id,
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      url: delivery.url,
      attempts: delivery.attempts,
      id: outcome.id,
      status,
      response_status: outcome.response_status,
      response_excerpt: outcome.response_excerpt,
      error: outcome.error,
      duration_ms: outcome.duration_ms,
      created_at: outcome.created_at,
      next_attempt_at: status === 'succeeded' ? null : nextAt(),
    }
  }
}
