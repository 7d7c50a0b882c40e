type Kind = 'short' | 'long'

/** Stops clients between two steps, for example while the clock moves. */
export class Gate {
  readonly #isOpen = { short: true, long: true }
  readonly #inside = { short: 0, long: 0 }
  #opened: Promise<void> = Promise.resolve()
  #open: () => void = () => undefined
  #emptied: () => void = () => undefined
  #last: Promise<unknown> = Promise.resolve()

  /** A step of a client; waits while the gate is closed. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#enter('short', work)
  }

  /** A step of many seconds. Short steps go on while the gate waits for the last of these. */
  runLong<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#enter('long', work)
  }

  /** What closed the gate and when, for the progress line; null while it is open. */
  closed: { by: string; since: number } | null = null

  /** Runs work while no client is in a step. Several of them run one after another. */
  exclusively(by: string, work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(async () => {
      this.closed = { by, since: performance.now() }
      this.#opened = new Promise((resolve) => {
        this.#open = resolve
      })
      try {
        await this.#close('long')
        await this.#close('short')
        await work()
      } finally {
        this.closed = null
        this.#isOpen.short = true
        this.#isOpen.long = true
        this.#open()
      }
    })
    this.#last = next.catch(() => undefined)
    return next
  }

  async #enter<Value>(kind: Kind, work: () => Promise<Value>): Promise<Value> {
    while (!this.#isOpen[kind]) await this.#opened
    this.#inside[kind] += 1
    try {
      return await work()
    } finally {
      this.#inside[kind] -= 1
      if (this.#inside[kind] === 0 && !this.#isOpen[kind]) this.#emptied()
    }
  }

  async #close(kind: Kind): Promise<void> {
    this.#isOpen[kind] = false
    if (this.#inside[kind] === 0) return
    await new Promise<void>((resolve) => {
      this.#emptied = resolve
    })
  }
}
