import type { ServerResponse } from 'node:http'
import type { Problem } from '#contract/problem.ts'
import { activityAfter } from '#domain/activity/follow_activity.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Call } from '#operations/call.ts'
import { problemOf, refusalAnswer } from '#operations/refusal.ts'
import type { Runtime } from '#operations/runtime.ts'

type Following = { caller: Caller; call: Call; after: string; sink: ServerResponse }

const RECONNECT_MS = 2_000

/**
 * One open stream. All it keeps is the last event it has sent: it reads on from there when the bell
 * rings, and no faster than its reader takes it, so nothing piles up and nothing is skipped. Before
 * each look it asks again who its bearer is.
 */
export class Follower {
  readonly caller: Caller
  readonly #programme: Runtime
  readonly #following: Following
  readonly #unsubscribe: () => void
  #after: string
  #ended = false
  #reading = false
  #rung = false
  #waited = false

  constructor(runtime: Runtime, following: Following) {
    this.caller = following.caller
    this.#programme = runtime
    this.#following = following
    this.#after = following.after
    this.#unsubscribe = runtime.activity_notifier.subscribe(following.caller.account_id, () =>
      this.#wake(),
    )
    following.sink.on('drain', () => this.#wake())
    following.sink.write(`retry: ${RECONNECT_MS}\n\n`)
    this.#wake()
  }

  /** A comment keeps the line open; a reader who took nothing since the last one is let go. */
  beat(): void {
    const { sink } = this.#following
    if (!sink.writableNeedDrain) {
      this.#waited = false
      sink.write(': still here\n\n')
      // Bearers expire without a notice.
      this.#callerNow().catch((cause) => this.#fail(problemOf(cause)))
    } else if (this.#waited) sink.destroy()
    else this.#waited = true
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#unsubscribe()
    this.#following.sink.end()
  }

  #wake(): void {
    this.#rung = true
    if (this.#reading || this.#ended) return
    this.#reading = true
    this.#readOn().catch((cause) => this.#fail(problemOf(cause)))
  }

  async #readOn(): Promise<void> {
    const { sink } = this.#following
    while (this.#rung && !this.#ended && !sink.writableNeedDrain) {
      this.#rung = false
      const caller = await this.#callerNow()
      const db = this.#programme.databaseOf(caller)
      const { events, has_more } = await activityAfter(db, caller, this.#after)
      if (has_more) this.#rung = true
      if (this.#ended) return
      for (const event of events) {
        sink.write(`id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`)
        this.#after = event.id
      }
    }
    this.#reading = false
  }

  #callerNow(): Promise<Caller> {
    return this.#programme.credentials.callerOf(this.#following.call.bearer ?? '')
  }

  /** What will not pass is said before the end; anything else is for the reader to try again. */
  #fail(problem: Problem): void {
    const { call, sink } = this.#following
    if (problem.status < 500 && !this.#ended) {
      sink.write(`event: ended\ndata: ${refusalAnswer(problem, call.request.id).body}\n\n`)
    }
    this.end()
  }
}
