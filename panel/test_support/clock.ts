import type { TestContext } from 'node:test'

type Clock = {
  /** Lets this much time pass, in steps of at most a second, as timers start others. */
  pass(ms: number): void
}

let current: Clock | null = null

/** The clock of the running test, if it has one of its own. */
export const testClock = (): Clock | null => current

/** Timers and the date of this test move only when the test says so. */
export function useTestClock(t: TestContext, now = '2026-11-16T09:30:00.000Z'): void {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.parse(now) })
  current = {
    pass: (ms) => {
      for (let left = ms; left > 0; left -= 1_000) t.mock.timers.tick(Math.min(left, 1_000))
    },
  }
  t.after(() => {
    current = null
    t.mock.timers.reset()
  })
}
