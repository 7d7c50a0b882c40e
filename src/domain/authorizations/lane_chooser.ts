import { assert } from '#kernel/assert.ts'
import type { WriteLane } from '#platform/postgres/write_lane.ts'

/**
 * Above this number of unsettled messages, all lanes are used. Four messages in two lanes cost
 * nearly twice as much as in one, because a batch costs as much as several messages; with many
 * messages, one lane decides while the other waits for the database.
 */
const SHARED_MAX = 32

type OpenAccount<Lane> = { lane: Lane; count: number }

/**
 * Chooses the lane of each message. The unsettled messages of an account are in one lane, in order
 * of arrival. Two lanes with cards of one account would contend for its event sequence: 2,400
 * messages a second instead of 6,000.
 */
export class LaneChooser<Command, Result> {
  readonly #lanes: readonly WriteLane<Command, Result>[]
  readonly #open = new Map<string, OpenAccount<WriteLane<Command, Result>>>()

  constructor(lanes: readonly WriteLane<Command, Result>[]) {
    this.#lanes = lanes
  }

  load(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.load(), 0)
  }

  async drain(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drain()))
  }

  /** Submits a command of an account, or of a card number that has none. */
  async submit(owner_id: string, command: Command): Promise<Result> {
    const account = this.#open.get(owner_id) ?? this.#openAccount(owner_id)
    account.count += 1
    try {
      return await account.lane.submit(command)
    } finally {
      account.count -= 1
      if (account.count === 0) this.#open.delete(owner_id)
    }
  }

  #openAccount(owner_id: string): OpenAccount<WriteLane<Command, Result>> {
    const at = this.load() < SHARED_MAX ? 0 : laneOf(owner_id, this.#lanes.length)
    const lane = this.#lanes[at]
    assert(lane !== undefined, 'a remainder is an index')
    const account = { lane, count: 0 }
    this.#open.set(owner_id, account)
    return account
  }
}

/** By the last character, because ids begin with their time and end randomly. */
const laneOf = (id: string, lanes: number): number => id.charCodeAt(id.length - 1) % lanes
