import type { Dependencies } from '#domain/context/context.ts'
import { attempt, GONE, type Outcome } from './attempt.ts'
import {
  claimDue,
  DUE,
  type LeasedDelivery,
  type MadeAttempt,
  recordAttempts,
  releaseDeliveries,
} from './delivery_store.ts'
import { disableWebhook } from './disable_webhook.ts'
import { nextAttemptAt } from './schedule.ts'

/** Attempts under way at a time on one node. Waiting costs a socket each, nothing else. */
const SENDING_MAX = 512
/** Of which one endpoint gets so many; and one alone while it fails, however many hang. */
const ENDPOINT_MAX = 32
const FAILING_MAX = 1
/** Rows taken ahead for one endpoint are what it gets through in so long, within bounds. */
const AHEAD_MS = 2_000
const AHEAD_MAX = 640
const LEASED_MAX = 2_048
/** An endpoint that nothing is known of is taken for a slow one. */
const PACE_UNKNOWN_MS = AHEAD_MS
const PACE_MEMORY = 0.8
const ENDPOINTS_REMEMBERED_MAX = 1_000
/** Long enough to get through what is held ahead; after a crash the row is due again. */
export const LEASE_MS = 120_000
const RECORDED_MAX = 500
/** Outcomes are gathered for so long: a record costs the same for one as for fifty. */
const GATHER_MS = 20
/** How long a stopping node waits for answers before it gives its rows back. */
const SHUTDOWN_GRACE_MS = 1_000

type Tools = Pick<
  Dependencies,
  'db' | 'clock' | 'random' | 'newId' | 'keys' | 'http' | 'log' | 'metrics' | 'settings' | 'fail'
>

const NOWHERE = { account_id: '', webhook_id: '' }
const keyOf = ({ webhook_id, event_id }: Pick<LeasedDelivery, 'webhook_id' | 'event_id'>) =>
  `${webhook_id}|${event_id}`

/** What this node holds for one subscription, and how long its answers take lately. */
type Endpoint = { sending: number; waiting: LeasedDelivery[]; pace_ms: number }

const heldFor = ({ sending, waiting }: Endpoint) => sending + waiting.length

function aheadOf({ pace_ms }: Endpoint): number {
  const ahead = Math.floor((ENDPOINT_MAX * AHEAD_MS) / Math.max(1, pace_ms))
  return Math.min(AHEAD_MAX, Math.max(ENDPOINT_MAX, ahead))
}

/**
 * Makes the attempts that are due. It takes rows in one statement, sends with nothing held in the
 * database, and records many outcomes in one statement; the three go on side by side.
 */
export class Deliverer {
  readonly #tools: Tools
  readonly #leased = new Map<string, LeasedDelivery>()
  readonly #endpoints = new Map<string, Endpoint>()
  /** Subscriptions that ended or changed while rows were being taken. */
  readonly #recalled = new Set<string>()
  readonly #hangUp = new AbortController()
  #isStopping = false
  #sending = 0
  #after = NOWHERE
  #claiming: Promise<void> | undefined
  #isAskedAgain = false
  #hadSome = false
  #outcomes: MadeAttempt[] = []
  #recording: Promise<void> | undefined

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** Looks for what is due and starts on it. Asked meanwhile, it looks once more. */
  wake(): Promise<void> {
    this.#isAskedAgain = true
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined
    })
    return this.#claiming
  }

  /**
   * What the database told every node. Nothing, after notices were lost, means that any
   * subscription may have ended or changed; what was not sent to those yet goes back.
   */
  onNotify(told: string): void {
    const changed = told === DUE ? [] : told === '' ? this.#endpoints.keys() : [told]
    for (const webhook_id of changed) {
      this.#recalled.add(webhook_id)
      this.#giveBack(webhook_id)
    }
    void this.wake().catch(() => undefined)
  }

  async stop(): Promise<void> {
    const { clock, db } = this.#tools
    this.#isStopping = true
    await this.#claiming?.catch(() => undefined)
    for (const endpoint of this.#endpoints.values()) endpoint.waiting.length = 0
    const ends = clock.monotonic() + SHUTDOWN_GRACE_MS
    while (this.#sending > 0 && clock.monotonic() < ends) await clock.sleep(10)
    this.#hangUp.abort()
    while (this.#sending > 0) await clock.sleep(5)
    await this.#recording
    await releaseDeliveries(db, [...this.#leased.values()], clock.now()).catch(() => undefined)
  }

  async #claim(): Promise<void> {
    while (this.#isAskedAgain && !this.#isStopping) {
      this.#isAskedAgain = false
      const limit = LEASED_MAX - this.#leased.size
      if (limit <= 0) return
      this.#recalled.clear()
      const taken = await this.#take(limit)
      this.#hadSome = taken.length > 0
      this.#tools.fail('delivery_leased')
      for (const delivery of taken) this.#hold(delivery)
      for (const id of this.#recalled) this.#giveBack(id)
      for (const id of new Set(taken.map(({ webhook_id }) => webhook_id))) this.#start(id)
    }
  }

  /** Goes on with the round where it stopped; at its end it begins anew, once. */
  async #take(limit: number): Promise<LeasedDelivery[]> {
    const { db, clock } = this.#tools
    const now = clock.now()
    const known = [...this.#endpoints].map(([webhook_id, endpoint]) => {
      const held = heldFor(endpoint)
      return { webhook_id, held, room: aheadOf(endpoint) - held }
    })
    const claim = {
      limit,
      endpoint_max: ENDPOINT_MAX,
      failing_max: FAILING_MAX,
      known,
      now,
      leased_until: new Date(now.getTime() + LEASE_MS),
    }
    const taken = await claimDue(db, { ...claim, after: this.#after })
    if (taken.length < limit && this.#after !== NOWHERE) {
      const rest = limit - taken.length
      taken.push(...(await claimDue(db, { ...claim, after: NOWHERE, limit: rest })))
      this.#after = NOWHERE
    } else this.#after = taken.length === limit ? (taken.at(-1) ?? NOWHERE) : NOWHERE
    return taken
  }

  #hold(delivery: LeasedDelivery): void {
    const key = keyOf(delivery)
    // Still under way here: only its lease had run out, as it does when the clock is moved.
    if (this.#leased.has(key)) return
    this.#leased.set(key, delivery)
    const endpoint = this.#endpoints.get(delivery.webhook_id)
    if (endpoint === undefined) {
      const fresh = { sending: 0, waiting: [delivery], pace_ms: PACE_UNKNOWN_MS }
      this.#endpoints.set(delivery.webhook_id, fresh)
    } else endpoint.waiting.push(delivery)
  }

  /** Sends what waits for this endpoint, as far as it and the node may have more under way. */
  #start(webhook_id: string): void {
    const endpoint = this.#endpoints.get(webhook_id)
    while (endpoint && endpoint.sending < ENDPOINT_MAX && this.#sending < SENDING_MAX) {
      const delivery = endpoint.waiting.shift()
      if (delivery === undefined) return
      endpoint.sending += 1
      this.#sending += 1
      attempt(this.#tools, delivery, this.#hangUp.signal)
        .then((outcome) => this.#finish(delivery, outcome))
        .catch((cause: unknown) => {
          const { event_id } = delivery
          this.#leased.delete(keyOf(delivery))
          this.#tools.log.error('an attempt could not be made', { event_id }, cause)
        })
        .finally(() => this.#leave(webhook_id, endpoint))
    }
  }

  #leave(webhook_id: string, endpoint: Endpoint): void {
    const wasFull = this.#sending >= SENDING_MAX
    endpoint.sending -= 1
    this.#sending -= 1
    if (wasFull) for (const id of this.#endpoints.keys()) this.#start(id)
    else this.#start(webhook_id)
    const isCrowded = this.#endpoints.size > ENDPOINTS_REMEMBERED_MAX
    if (heldFor(endpoint) === 0 && isCrowded) this.#endpoints.delete(webhook_id)
    const isLow = endpoint.waiting.length <= aheadOf(endpoint) / 2
    if (this.#hadSome && isLow && !this.#claiming) void this.wake().catch(() => undefined)
  }

  #finish(delivery: LeasedDelivery, outcome: Outcome): void {
    // Cut short by us: not the endpoint's failure, and its row is given back.
    if (this.#hangUp.signal.aborted && outcome.status === 'failed') return
    this.#tools.fail('delivery_sent')
    if (outcome.status === 'failed') this.#giveBack(delivery.webhook_id)
    else this.#notePace(delivery.webhook_id, outcome.duration_ms)
    this.#outcomes.push(this.#madeAttempt(delivery, outcome))
    this.#recording ??= this.#record().finally(() => {
      this.#recording = undefined
    })
  }

  #notePace(webhook_id: string, duration_ms: number): void {
    const endpoint = this.#endpoints.get(webhook_id)
    if (endpoint === undefined) return
    endpoint.pace_ms = endpoint.pace_ms * PACE_MEMORY + duration_ms * (1 - PACE_MEMORY)
  }

  /** What waits for an endpoint that has begun to fail, or has changed, is taken again later. */
  #giveBack(webhook_id: string): void {
    const { db, clock, log } = this.#tools
    const endpoint = this.#endpoints.get(webhook_id)
    if (endpoint !== undefined) endpoint.pace_ms = PACE_UNKNOWN_MS
    const waiting = endpoint?.waiting.splice(0) ?? []
    if (waiting.length === 0) return
    for (const delivery of waiting) this.#leased.delete(keyOf(delivery))
    releaseDeliveries(db, waiting, clock.now()).catch((cause: unknown) =>
      log.error('deliveries could not be given back; their lease will end', {}, cause),
    )
  }

  #madeAttempt(delivery: LeasedDelivery, outcome: Outcome): MadeAttempt {
    const { clock, random } = this.#tools
    const { status, retry_after_ms } = outcome
    const failed = { attempts: delivery.attempts + 1, retry_after_ms, now: clock.now(), random }
    // Written out: of all that a delivery takes, copying objects would be a tenth.
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
      next_attempt_at: status === 'succeeded' ? null : nextAttemptAt(failed),
    }
  }

  /** A record that fails is dropped with its lease: the attempt is made again, not forgotten. */
  async #record(): Promise<void> {
    const { db, clock, log, metrics, fail } = this.#tools
    while (this.#outcomes.length > 0) {
      await clock.sleep(GATHER_MS)
      const made = this.#outcomes.splice(0, RECORDED_MAX)
      try {
        await db.transaction((tx) => recordAttempts(tx, made))
        fail('delivery_recorded')
        for (const status of ['succeeded', 'failed'] as const) {
          const count = made.filter((one) => one.status === status).length
          if (count > 0) metrics.webhook_attempts.inc({ status }, count)
        }
        await this.#disableGone(made)
      } catch (cause) {
        log.error('attempts were made but not recorded', { count: made.length }, cause)
      }
      for (const delivery of made) this.#leased.delete(keyOf(delivery))
    }
  }

  async #disableGone(made: readonly MadeAttempt[]): Promise<void> {
    for (const { account_id, webhook_id, response_status } of made) {
      if (response_status !== GONE) continue
      const now = this.#tools.clock.now()
      const gone = { account_id, id: webhook_id, reason: 'endpoint_gone', now } as const
      await disableWebhook(this.#tools, gone)
    }
  }
}
