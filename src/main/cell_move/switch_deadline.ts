import { performance } from 'node:perf_hooks'
import type { Session } from '#platform/postgres/session.ts'

/** The cell waits for a second at most; a fifth of it is left for the commit. */
const GIVE_UP_MS = 800

/** `set` takes no parameters. */
const LIMIT = `select set_config('statement_timeout', $1, false),
  set_config('idle_in_transaction_session_timeout', $1, false)`
const LIFT_STATEMENT = `select set_config('statement_timeout', '0', false)`

/** The switch took too long, and was undone. */
export class SwitchTooSlow extends Error {}

/**
 * The time that a switch may take until its commit. The servers keep it too: if this process stops
 * responding, the old server ends its connection and the cell goes on.
 */
export class SwitchDeadline {
  readonly #began_ms = performance.now()
  readonly #sessions: readonly Session[]
  #step = ''

  constructor(sessions: readonly Session[]) {
    this.#sessions = sessions
  }

  elapsedMs(): number {
    return Math.round(performance.now() - this.#began_ms)
  }

  /** Runs a step that can still be undone. */
  async run<Value>(step: string, work: () => Promise<Value>): Promise<Value> {
    this.#step = step
    this.check()
    try {
      // Zero would be no limit.
      await this.#limit(Math.max(1, GIVE_UP_MS - this.elapsedMs()))
      return await work()
    } catch (cause) {
      this.check()
      throw cause
    }
  }

  /** Throws when the time is over. */
  check(): void {
    const elapsed_ms = this.elapsedMs()
    if (elapsed_ms < GIVE_UP_MS) return
    throw new SwitchTooSlow(`given up after ${elapsed_ms} ms, while ${this.#step}`)
  }

  /**
   * A commit must not be cut short: it waits for the synchronous standby. The idle limit stays, so
   * that the server ends the locks if this process stops responding just before the commit.
   */
  async liftForCommit(lock: Session): Promise<void> {
    try {
      await lock.rows(LIFT_STATEMENT)
    } catch (cause) {
      this.check()
      throw cause
    }
  }

  /** After the switch. */
  lift(): Promise<void> {
    return this.#limit(0)
  }

  async #limit(left_ms: number): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.rows(LIMIT, [String(left_ms)])))
  }
}
