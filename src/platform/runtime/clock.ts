import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Time as the service sees it. `now` is what windows, expiries and lifetimes are judged by, and can
 * be moved forward; `wall` is the world's time, for what other machines check too (authenticator
 * codes, signature stamps); `monotonic` measures durations and rates and never jumps.
 */
export type Clock = {
  now(): Date
  wall(): Date
  monotonic(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  every(ms: number, beat: () => void): () => void
  offset_ms(): number
  setOffset(ms: number): void
}

export function systemClock(): Clock {
  let offset = 0
  return {
    now: () => new Date(Date.now() + offset),
    wall: () => new Date(),
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
    },
    every: (ms, beat) => {
      const timer = setInterval(beat, ms)
      return () => clearInterval(timer)
    },
    offset_ms: () => offset,
    setOffset: (ms) => {
      offset = ms
    },
  }
}
