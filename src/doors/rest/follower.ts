import type { ServerResponse } from 'node:http'
import type { Problem } from '#contract/problem.ts'
import { activityAfter } from '#domain/activity/follow_activity.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Call } from '#operations/call.ts'
import { problemOf, problemResponse } from '#operations/problem_response.ts'
import type { Runtime } from '#operations/runtime.ts'

type StreamSource = { caller: Caller; call: Call; after: string; sink: ServerResponse }

const RECONNECT_MS = 2_000

/**
 * One open stream. It keeps only the ID of the last event sent: on each notification it reads on
 * from there, no faster than the client reads, so nothing piles up and nothing is skipped. Before
 * each read it authenticates the bearer again.
 */
export class Follower {
  readonly #runtime: Runtime
  readonly #following: StreamSource
  readonly #unsubscribe: () => void
  #after: string
  #ended = false
  #reading = false
  #notified = false
  #was_blocked = false
  #has_failed = false

  constructor(runtime: Runtime, following: StreamSource) {
    this.#runtime = runtime
    this.#following = following
    this.#after = following.after
    this.#unsubscribe = runtime.activity_notifier.subscribe(following.caller.account_id, () =>
      this.#wake(),
    )
    following.sink.on('drain', () => this.#wake())
    // With the ID, a client also resumes without a gap if the connection ends before an event.
    following.sink.write(`retry: ${RECONNECT_MS}\nid: ${following.after}\n\n`)
    this.#wake()
  }

  /** Sends a comment to keep the connection open; ends it if the client has read nothing since. */
  keepAlive(): void {
    const { sink } = this.#following
    if (!sink.writableNeedDrain) {
      this.#was_blocked = false
      sink.write(': keep-alive\n\n')
      // Bearers expire without a notification.
      if (this.#has_failed) this.#wake()
      else this.#callerNow().catch((cause) => this.#fail(problemOf(cause)))
    } else if (this.#was_blocked) sink.destroy()
    else this.#was_blocked = true
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#unsubscribe()
    this.#following.sink.end()
  }

  #wake(): void {
    this.#notified = true
    if (this.#reading || this.#ended) return
    this.#reading = true
    this.#readOn().catch((cause) => {
      this.#reading = false
      this.#fail(problemOf(cause))
    })
  }

  async #readOn(): Promise<void> {
    const { sink } = this.#following
    while (this.#notified && !this.#ended && !sink.writableNeedDrain) {
      this.#notified = false
      const caller = await this.#callerNow()
      const db = this.#runtime.databaseOf(caller)
      const { events, has_more } = await activityAfter(db, caller, this.#after)
      this.#has_failed = false
      if (has_more) this.#notified = true
      if (this.#ended) return
      for (const event of events) {
        sink.write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`)
        this.#after = event.id
      }
    }
    this.#reading = false
  }

  #callerNow(): Promise<Caller> {
    return this.#runtime.credentials.callerOf(this.#following.call.bearer ?? '')
  }

  /**
   * A permanent error is sent before the end. A temporary one, such as a failover of the database,
   * keeps the stream open; otherwise every client would reconnect and be refused until it is over.
   * Listeners are notified when the database is back, and read on.
   */
  #fail(problem: Problem): void {
    if (this.#ended) return
    if (problem.status >= 500) {
      this.#has_failed = true
      return
    }
    const { call, sink } = this.#following
    sink.write(`event: ended\ndata: ${problemResponse(problem, call.request.id).body}\n\n`)
    this.end()
  }
}
