import type { Clock } from '#platform/runtime/clock.ts'

/** The time that frames of all connections together may take in one turn of the event loop. */
const TURN_BUDGET_MS = 8

export type FrameSource = {
  /** Handles the oldest queued frame. Returns true if more are queued. */
  handleNext(): boolean
}

/**
 * Shares the event loop between connections: one frame of each in round-robin order until the
 * turn's budget is used up, the rest in later turns. One read of a socket can bring thousands of
 * frames, and 512 connections can become readable in one turn; without a limit they would block
 * the API (loop_lag.long.test.ts).
 */
export class FrameScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #ready: FrameSource[] = []
  #turn_ends_ms: number | null = null

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Handles the source's frames, immediately if this turn has time left. */
  add(source: FrameSource): void {
    this.#ready.push(source)
    this.#run()
  }

  hasTimeLeft(): boolean {
    const now_ms = this.#clock.monotonic()
    if (this.#turn_ends_ms === null) {
      this.#turn_ends_ms = now_ms + TURN_BUDGET_MS
      setImmediate(() => {
        this.#turn_ends_ms = null
        this.#run()
      })
    }
    return now_ms < this.#turn_ends_ms
  }

  #run(): void {
    while (this.#ready.length > 0 && this.hasTimeLeft()) {
      const source = this.#ready.shift()
      if (source?.handleNext()) this.#ready.push(source)
    }
  }
}
