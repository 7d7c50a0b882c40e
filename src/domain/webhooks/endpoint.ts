import type { LeasedDelivery } from './delivery_store.ts'

/** Concurrent attempts for one webhook; it begins with a few, and each success allows one more. */
const ENDPOINT_MAX = 32
export const FIRST_ATTEMPTS_MAX = 4
/** Concurrent attempts for a webhook that is failing. */
export const FAILING_ENDPOINT_MAX = 1
/** For each webhook, a node leases the rows that it can send in this time, within bounds. */
const PREFETCH_MS = 2_000
const PREFETCH_MAX = 640
/** A webhook without a measured response time is treated as slow. */
const AVERAGE_UNKNOWN_MS = PREFETCH_MS
const AVERAGE_SMOOTHING = 0.8

/** This node's deliveries of one webhook, and how it has responded to them. */
export class Endpoint {
  /** Attempts without a response yet, and those of them that have waited too long. */
  sending = 0
  silent = 0
  readonly waiting: LeasedDelivery[] = []
  /** Rows may be due that this node has not leased. They go before newer ones. */
  has_backlog = false
  #sending_max = FIRST_ATTEMPTS_MAX
  #is_failing = false
  /** The moving average of the response time. */
  #average_ms = AVERAGE_UNKNOWN_MS

  get leased(): number {
    return this.sending + this.waiting.length
  }

  /** An endpoint that hangs gets no further attempt until the silent ones have ended. */
  get canSend(): boolean {
    return this.silent === 0 && this.sending < this.#sending_max
  }

  /** The number of rows this node can still lease. */
  get leasable_rows(): number {
    if (this.silent > 0) return 0
    const limit = this.#is_failing ? FAILING_ENDPOINT_MAX : this.#prefetchLimit
    return Math.max(0, limit - this.leased)
  }

  /** The number of new deliveries this node can take before it has read older ones. */
  get leasable_new_rows(): number {
    return this.has_backlog ? 0 : this.leasable_rows
  }

  /** Rows should be leased before the waiting ones are sent. */
  get needsRows(): boolean {
    return (
      this.has_backlog && this.leasable_rows > 0 && this.waiting.length <= this.#prefetchLimit / 2
    )
  }

  /** A claim for this many rows has found some of them; it finds few if the webhook is failing. */
  recordClaim(found: number, leasable: number, is_failing: boolean): void {
    this.#is_failing ||= is_failing
    if (leasable > 0) this.has_backlog = is_failing || found >= leasable
  }

  recordFailure(): void {
    this.#is_failing = true
  }

  recordSuccess(duration_ms: number): void {
    this.#is_failing = false
    this.#sending_max = Math.min(ENDPOINT_MAX, this.#sending_max + 1)
    this.#average_ms = this.#average_ms * AVERAGE_SMOOTHING + duration_ms * (1 - AVERAGE_SMOOTHING)
  }

  /** Forgets the endpoint's response times and returns the waiting rows. */
  takeWaiting(): LeasedDelivery[] {
    this.#sending_max = FIRST_ATTEMPTS_MAX
    this.#average_ms = AVERAGE_UNKNOWN_MS
    return this.waiting.splice(0)
  }

  get #prefetchLimit(): number {
    const prefetch = Math.floor((ENDPOINT_MAX * PREFETCH_MS) / Math.max(1, this.#average_ms))
    return Math.min(PREFETCH_MAX, Math.max(ENDPOINT_MAX, prefetch))
  }
}
