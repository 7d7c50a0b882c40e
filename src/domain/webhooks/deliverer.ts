import type { EventConsumer } from '#domain/events/fan_out_events_task.ts'
import { type AttemptOutcome, sendAttempt } from './attempt.ts'
import {
  type ClaimedDelivery,
  type CompletedAttempt,
  claimDue,
  DUE,
  type InsertedDeliveries,
  insertDeliveries,
  type LeasedDelivery,
  releaseDeliveries,
} from './delivery_store.ts'
import { Endpoint, FAILING_ENDPOINT_MAX, FIRST_ATTEMPTS_MAX } from './endpoint.ts'
import { OutcomeRecorder } from './outcome_recorder.ts'
import { Recalls } from './recalls.ts'
import type { DeliveryDependencies } from './webhook_dependencies.ts'

/** Concurrent attempts on one node. */
const SENDING_MAX = 512
/**
 * An attempt that has waited this long makes room for another one, so endpoints that hang don't
 * delay the others. It costs only a socket; beyond this number, attempts keep their places.
 */
const SILENT_AFTER_MS = 1_000
const SILENT_CHECK_MS = 250
const SILENT_MAX = 2_048
const LEASED_MAX = 2_048
const ENDPOINTS_REMEMBERED_MAX = 1_000
/** Waiting deliveries, above which the fan-out pauses, and how long at most. */
const ROOM_ABOVE = 128
const ROOM_WAIT_MS_MAX = 100
const ROOM_CHECK_MS = 5
/** Long enough to send all leased rows; after a crash a row is due again when its lease ends. */
const LEASE_MS = 120_000
/** A stopping node waits this long for responses, then aborts and releases its rows. */
const SHUTDOWN_GRACE_MS = 1_000

const START = { account_id: '', webhook_id: '' }
const keyOf = ({ webhook_id, event_id }: Pick<LeasedDelivery, 'webhook_id' | 'event_id'>) =>
  `${webhook_id}|${event_id}`

type Attempt = { webhook_id: string; endpoint: Endpoint; started: number }

/**
 * Sends the due deliveries. It leases rows in one statement, sends without holding a database
 * connection, and leaves the outcomes to a recorder. The three run concurrently.
 */
export class Deliverer {
  readonly #dependencies: DeliveryDependencies
  readonly #leased = new Map<string, LeasedDelivery>()
  readonly #endpoints = new Map<string, Endpoint>()
  readonly #recalls = new Recalls()
  readonly #abort = new AbortController()
  /** In the order of their start, without those that were silent for too long. */
  readonly #sending = new Set<Attempt>()
  #silent = 0
  #isStopping = false
  #watching: Promise<void> | undefined
  #after = START
  #claiming: Promise<void> | undefined
  #isWakeRequested = false
  /** The last claim stopped at the node's limit, so rows of other webhooks may be due. */
  #isCut = false
  readonly #recorder: OutcomeRecorder

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies
    this.#recorder = new OutcomeRecorder(dependencies, (recorded) => this.#forget(recorded))
  }

  /** Claims and sends due deliveries. A call during a claim makes it claim again. */
  wake(): Promise<void> {
    this.#isWakeRequested = true
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined
    })
    return this.#claiming
  }

  /**
   * The payload is DUE, or the id of a webhook that was deleted or changed: its waiting deliveries
   * are released. It is empty after notifications were lost, when any webhook may have changed.
   */
  onNotify(payload: string): void {
    const changed = payload === DUE ? [] : payload === '' ? this.#endpoints.keys() : [payload]
    for (const webhook_id of changed) {
      this.#recalls.add(webhook_id)
      this.#releaseWaiting(webhook_id)
    }
    this.#wakeLater()
  }

  #wakeLater(): void {
    void this.wake().catch(() => undefined)
  }

  /**
   * Inserts the deliveries of new events. This node sends those it has room for, so they are
   * neither claimed nor read: half of the database's work (`npm run bench -- webhooks`).
   */
  readonly consumeEvents: EventConsumer = async (tx, events, afterCommit) => {
    const now = this.#dependencies.clock.now()
    const recall_count = this.#recalls.count
    const known = [...this.#endpoints].map(([webhook_id, { leasable_new_rows }]) => {
      return { webhook_id, room: leasable_new_rows }
    })
    const inserted = await insertDeliveries(tx, events, now, {
      limit: this.#isStopping ? 0 : LEASED_MAX - this.#leased.size,
      endpoint_max: FIRST_ATTEMPTS_MAX,
      known,
      leased_until: new Date(now.getTime() + LEASE_MS),
    })
    afterCommit(() => this.#takeInserted(inserted, recall_count))
  }

  #takeInserted({ leased, due }: InsertedDeliveries, recall_count: number): void {
    if (leased.length > 0) this.#dependencies.fail('delivery_leased')
    this.#takeLeased(leased, recall_count)
    for (const id of due) {
      const endpoint = this.#endpoints.get(id)
      if (endpoint !== undefined) endpoint.has_backlog = true
    }
  }

  /** Waits a short time until most leased deliveries are sent, so the next ones find room too. */
  async waitForRoom(): Promise<void> {
    const { clock } = this.#dependencies
    const deadline = clock.monotonic() + ROOM_WAIT_MS_MAX
    const countWaiting = () =>
      [...this.#endpoints.values()].reduce((sum, { waiting }) => sum + waiting.length, 0)
    const isOver = () => this.#isStopping || clock.monotonic() >= deadline
    while (countWaiting() > ROOM_ABOVE && !isOver()) await clock.sleep(ROOM_CHECK_MS)
  }

  async stop(): Promise<void> {
    const { clock, db } = this.#dependencies
    this.#isStopping = true
    await this.#claiming?.catch(() => undefined)
    for (const endpoint of this.#endpoints.values()) endpoint.waiting.length = 0
    const deadline = clock.monotonic() + SHUTDOWN_GRACE_MS
    const isSending = () => this.#sending.size + this.#silent > 0
    while (isSending() && clock.monotonic() < deadline) await clock.sleep(10)
    this.#abort.abort()
    while (isSending()) await clock.sleep(5)
    await Promise.all([this.#recorder.finish(), this.#watching])
    await releaseDeliveries(db, [...this.#leased.values()], clock.now()).catch(() => undefined)
  }

  async #claim(): Promise<void> {
    while (this.#isWakeRequested && !this.#isStopping) {
      this.#isWakeRequested = false
      const limit = LEASED_MAX - this.#leased.size
      if (limit <= 0) return
      const recall_count = this.#recalls.count
      const leasable = new Map(
        [...this.#endpoints].map(([id, { leasable_rows }]) => [id, leasable_rows]),
      )
      const claimed = await this.#claimBatch(limit)
      this.#dependencies.fail('delivery_leased')
      this.#isCut = claimed.length >= limit
      this.#takeLeased(claimed, recall_count)
      this.#noteBacklogs(claimed, leasable)
      this.#isWakeRequested ||= this.#needsRows()
    }
  }

  #takeLeased(leased: readonly LeasedDelivery[], recall_count: number): void {
    const webhook_ids = new Set(leased.map(({ webhook_id }) => webhook_id))
    for (const delivery of leased) this.#enqueue(delivery)
    for (const id of webhook_ids) {
      const isRecalled = this.#recalls.isRecalledSince(recall_count, id)
      if (isRecalled || this.#isStopping) this.#releaseWaiting(id)
      else this.#sendWaiting(id)
    }
  }

  #noteBacklogs(claimed: readonly ClaimedDelivery[], leasable: ReadonlyMap<string, number>): void {
    const found = new Map<string, { count: number; is_failing: boolean }>()
    for (const { webhook_id, is_failing } of claimed) {
      const before = found.get(webhook_id)
      found.set(webhook_id, { count: (before?.count ?? 0) + 1, is_failing })
    }
    for (const [id, endpoint] of this.#endpoints) {
      const { count, is_failing } = found.get(id) ?? { count: 0, is_failing: false }
      // A claim that stopped early does not show that a webhook has no more.
      if (this.#isCut && count === 0) continue
      endpoint.recordClaim(count, leasable.get(id) ?? FIRST_ATTEMPTS_MAX, is_failing)
    }
  }

  #needsRows(): boolean {
    for (const endpoint of this.#endpoints.values()) if (endpoint.needsRows) return true
    return false
  }

  /** Continues the round-robin after the last webhook and wraps around at most once. */
  async #claimBatch(limit: number): Promise<ClaimedDelivery[]> {
    const { db, clock } = this.#dependencies
    const now = clock.now()
    const known = [...this.#endpoints].map(([webhook_id, { leased, leasable_rows }]) => {
      return { webhook_id, held: leased, room: leasable_rows }
    })
    const claim = {
      limit,
      endpoint_max: FIRST_ATTEMPTS_MAX,
      failing_max: FAILING_ENDPOINT_MAX,
      known,
      now,
      leased_until: new Date(now.getTime() + LEASE_MS),
    }
    const claimed = await claimDue(db, { ...claim, after: this.#after })
    if (claimed.length < limit && this.#after !== START) {
      const rest = limit - claimed.length
      claimed.push(...(await claimDue(db, { ...claim, after: START, limit: rest })))
      this.#after = START
    } else this.#after = claimed.length === limit ? (claimed.at(-1) ?? START) : START
    return claimed
  }

  #enqueue(delivery: LeasedDelivery): void {
    const key = keyOf(delivery)
    // Still being sent by this node; its lease expired because the sandbox's clock was advanced.
    if (this.#leased.has(key)) return
    this.#leased.set(key, delivery)
    const endpoint = this.#endpoints.get(delivery.webhook_id) ?? new Endpoint()
    this.#endpoints.set(delivery.webhook_id, endpoint)
    endpoint.waiting.push(delivery)
  }

  /** Sends the webhook's waiting deliveries within the limits of the webhook and the node. */
  #sendWaiting(webhook_id: string): void {
    const endpoint = this.#endpoints.get(webhook_id)
    while (endpoint?.canSend && this.#sending.size < SENDING_MAX) {
      const delivery = endpoint.waiting.shift()
      if (delivery === undefined) return
      const attempt = { webhook_id, endpoint, started: this.#dependencies.clock.monotonic() }
      endpoint.sending += 1
      this.#sending.add(attempt)
      this.#watching ??= this.#watchSilent().finally(() => {
        this.#watching = undefined
      })
      void this.#send(attempt, delivery)
    }
  }

  async #send(attempt: Attempt, delivery: LeasedDelivery): Promise<void> {
    try {
      const outcome = await sendAttempt(this.#dependencies, delivery, this.#abort.signal)
      this.#handleOutcome(delivery, outcome)
    } catch (cause) {
      const { event_id, webhook_id } = delivery
      this.#leased.delete(keyOf(delivery))
      const fields = { event_id, webhook_id }
      this.#dependencies.log.error('could not attempt a delivery', fields, cause)
    } finally {
      this.#finishSending(attempt)
    }
  }

  async #watchSilent(): Promise<void> {
    while (this.#sending.size > 0) {
      await this.#dependencies.clock.sleep(SILENT_CHECK_MS)
      this.#setSilentAside()
    }
  }

  #setSilentAside(): void {
    const wasFull = this.#sending.size >= SENDING_MAX
    const silent_since = this.#dependencies.clock.monotonic() - SILENT_AFTER_MS
    for (const attempt of this.#sending) {
      if (attempt.started > silent_since || this.#silent >= SILENT_MAX) break
      this.#sending.delete(attempt)
      this.#silent += 1
      attempt.endpoint.silent += 1
      this.#releaseWaiting(attempt.webhook_id)
    }
    if (wasFull) this.#sendAllWaiting()
  }

  #sendAllWaiting(): void {
    for (const id of this.#endpoints.keys()) this.#sendWaiting(id)
  }

  #finishSending(attempt: Attempt): void {
    const { webhook_id, endpoint } = attempt
    const wasFull = this.#sending.size >= SENDING_MAX
    const wasSilent = !this.#sending.delete(attempt)
    if (wasSilent) {
      this.#silent -= 1
      endpoint.silent -= 1
    }
    endpoint.sending -= 1
    if (wasFull) this.#sendAllWaiting()
    else this.#sendWaiting(webhook_id)
    const isCrowded = this.#endpoints.size > ENDPOINTS_REMEMBERED_MAX
    const isIdle = endpoint.leased === 0 && !endpoint.has_backlog
    if (isIdle && isCrowded) this.#endpoints.delete(webhook_id)
    // A running claim finds endpoints that need rows by itself.
    if (endpoint.needsRows && !this.#claiming) this.#wakeLater()
  }

  #handleOutcome(delivery: LeasedDelivery, outcome: AttemptOutcome): void {
    // Aborted by our shutdown: not a failure of the endpoint. stop() releases the row.
    if (this.#abort.signal.aborted && outcome.status === 'failed') return
    this.#dependencies.fail('delivery_sent')
    const endpoint = this.#endpoints.get(delivery.webhook_id)
    if (outcome.status === 'succeeded') endpoint?.recordSuccess(outcome.duration_ms)
    else {
      endpoint?.recordFailure()
      this.#releaseWaiting(delivery.webhook_id)
    }
    this.#recorder.add(delivery, outcome)
  }

  /** A row that could not be recorded is due again when its lease ends. */
  #forget(recorded: readonly CompletedAttempt[]): void {
    for (const delivery of recorded) this.#leased.delete(keyOf(delivery))
    if (this.#isCut && !this.#claiming) this.#wakeLater()
  }

  /** Releases the waiting deliveries of a webhook that has failed, hangs or was changed. */
  #releaseWaiting(webhook_id: string): void {
    const { db, clock, log } = this.#dependencies
    const endpoint = this.#endpoints.get(webhook_id)
    const waiting = endpoint?.takeWaiting() ?? []
    if (endpoint === undefined || waiting.length === 0) return
    for (const delivery of waiting) this.#leased.delete(keyOf(delivery))
    releaseDeliveries(db, waiting, clock.now()).then(
      () => {
        endpoint.has_backlog = true
        this.#wakeLater()
      },
      (cause: unknown) => {
        const fields = { webhook_id, count: waiting.length }
        log.error('could not release deliveries; their lease will expire', fields, cause)
      },
    )
  }
}
