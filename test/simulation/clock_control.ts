import { eventually } from '#test/support/eventually.ts'
import type { Life } from './clients/life.ts'
import { callPath, type Session } from './clients/session.ts'
import type { Transport } from './clients/transport.ts'
import type { World } from './world/world.ts'

const DAY_MS = 86_400_000
/** Generous: a node listens again only some seconds after it has lost the database. */
const FOLLOWED_MS = 40_000

/** The service's clock as the simulation moves it: forward, over midnights and month ends. */
export class SimulationClock {
  #offset_ms = 0
  #offset_of_long_jump_ms = 0

  now(): number {
    return Date.now() + this.#offset_ms
  }

  /** The time until the next UTC midnight. */
  untilMidnight(): number {
    return DAY_MS - (this.now() % DAY_MS)
  }

  /** True shortly before and after midnight, when nodes may disagree about the day. */
  isNearMidnight(margin_ms: number): boolean {
    const left = this.untilMidnight()
    return left < margin_ms || left > DAY_MS - margin_ms
  }

  /** Advances the clock of every process. `bearer` is that of any account. */
  async advance(session: Session, bearer: string, ms: number): Promise<void> {
    const path = '/sandbox/v1/clock/advance'
    const body = { seconds: Math.round(ms / 1_000) }
    const answer = await callPath(session, 'sandbox_clock', { path, body, bearer })
    const { offset_seconds } = answer.body
    if (typeof offset_seconds !== 'number') throw new Error(JSON.stringify(answer.body))
    session.transport.trace.write({ what: 'clock', offset_seconds })
    await this.#follow(session.transport, offset_seconds * 1_000)
  }

  async #follow({ world, monitor }: Transport, offset_ms: number): Promise<void> {
    this.#offset_ms = offset_ms
    world.signer.offset(offset_ms)
    await world.chain.offset(offset_ms)
    const isFollowed = await eventually(() => everyNodeFollows(world, offset_ms), {
      within_ms: FOLLOWED_MS,
    })
    if (!isFollowed) monitor.violate('something is stuck', 'a node does not follow the clock')
  }

  /**
   * The next jump: a midnight, or the end of a month. Holds expire after seven days; the sum of the
   * jumps stays below six days or passes eight, so no hold expires while clients use it.
   */
  chooseJump(isLong: boolean): number {
    const to_midnight = this.untilMidnight()
    const isSafe = this.#offset_ms - this.#offset_of_long_jump_ms < 5 * DAY_MS
    if (isSafe && !isLong) return to_midnight
    const date = new Date(this.now() + 9 * DAY_MS)
    const month_end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    const to_month_end = month_end - this.now()
    const jump = to_month_end < 25 * DAY_MS ? to_month_end : to_midnight + 9 * DAY_MS
    this.#offset_of_long_jump_ms = this.#offset_ms + jump
    return jump
  }
}

/** A node that is down reads the offset when it starts. */
async function everyNodeFollows({ nodes }: World, offset_ms: number): Promise<boolean> {
  const offsets = await Promise.all(nodes.map((node) => node.offset()))
  return offsets.every((offset) => offset === null || offset === offset_ms)
}

/** Tells the models what the passage of time did: holds and top-ups that have expired. */
export function expireInModels(lives: ReadonlySet<Life>, now: number): void {
  for (const life of lives) {
    const { model, holder } = life
    model.setTime(now)
    const account = holder.name
    if (isOrderUnknown(model, account)) life.is_ended = true
    // A reversal that overtook its message is forgotten after a week.
    holder.purchases = holder.purchases.filter(({ isSent }) => isSent)
    for (const message of model.dueAuthorizations(account)) {
      model.apply({ op: 'expire_authorization', account, message, is_early: false })
    }
    for (const topup of dueTopups(model, account, now)) {
      model.apply({ op: 'expire_topup', account, topup })
    }
  }
}

/**
 * Released holds pay the account's debt, so the card whose hold is released first pays it. That
 * order depends on the clocks of the nodes that made the holds.
 */
function isOrderUnknown(model: Life['model'], account: string): boolean {
  const due = new Set(model.dueAuthorizations(account))
  return model.possible(account).some(({ owed, rows }) => {
    const cards = rows.filter(({ message }) => due.has(message)).map(({ card }) => card)
    return owed > 0n && new Set(cards).size > 1
  })
}

function dueTopups(model: Life['model'], account: string, now: number): string[] {
  const due = model
    .possible(account)
    .flatMap(({ topups }) => [...topups])
    .filter(([, { status, expires_at }]) => status === 'awaiting' && expires_at <= now)
  return [...new Set(due.map(([name]) => name))]
}
