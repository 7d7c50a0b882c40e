import { type Clock, systemClock } from '#platform/runtime/clock.ts'

type ManualClock = Clock & {
  /** Lets the world's time and the measured time pass; `now` is moved by the sandbox alone. */
  advance(ms: number): void
}

/** The world's time and the measured time stand still until a test lets them pass. */
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
