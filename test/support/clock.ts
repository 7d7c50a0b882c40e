import { type Clock, systemClock } from '#platform/runtime/clock.ts'

/** The clock of a node whose machine is behind. */
export const behind = (clock: Clock, ms: number): Clock => ({
  ...clock,
  now: () => new Date(clock.now().getTime() - ms),
})

type ManualClock = Clock & {
  /** Advances `wall` and `monotonic`; only the sandbox advances `now`. */
  advance(ms: number): void
}

/** A clock whose `wall` and `monotonic` change only when a test advances them. */
export function manualClock(): ManualClock {
  let wall_ms = Date.parse('2031-05-06T07:08:15.000Z')
  let monotonic_ms = 1_000
  return {
    ...systemClock(),
    wall: () => new Date(wall_ms),
    monotonic: () => monotonic_ms,
    advance: (ms) => {
      wall_ms += ms
      monotonic_ms += ms
    },
  }
}
