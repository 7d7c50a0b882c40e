import type { Clock } from '#platform/runtime/clock.ts'

/** How long the frames of all connections together may hold one turn of the event loop. */
const TURN_MS = 8

export type FrameSource = {
  /** Handles the oldest waiting frame; whether more of them are waiting. */
  handleNext(): boolean
}

/**
 * Shares the event loop between connections: one frame of each in turn, for a few milliseconds,
 * and the rest on later turns. One read of a socket can bring thousands of frames, and 512
 * connections can be read in one turn; without a bound the API would stand still meanwhile.
 */
export class FrameScheduler {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #ready: FrameSource[] = []
  #ends_ms: number | null = null

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Handles the source's frames, now while this turn has time, else on later ones. */
  add(source: FrameSource): void {
    this.#ready.push(source)
    this.#run()
  }

  /** Whether this turn of the event loop has time for one more frame. */
  hasTime(): boolean {
    const now_ms = this.#clock.monotonic()
    if (this.#ends_ms === null) {
      this.#ends_ms = now_ms + TURN_MS
      setImmediate(() => {
        this.#ends_ms = null
        this.#run()
      })
    }
    return now_ms < this.#ends_ms
  }

  #run(): void {
    while (this.#ready.length > 0 && this.hasTime()) {
      const source = this.#ready.shift()
      if (source?.handleNext()) this.#ready.push(source)
    }
  }
}
