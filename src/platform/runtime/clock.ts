import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * `now` decides windows, expiries and lifetimes; the sandbox can advance it. `wall` is the real
 * time, for values that other machines check too (TOTP codes, signature timestamps). `monotonic`
 * measures durations and rates and never jumps.
 */
export type Clock = {
  now(): Date
  wall(): Date
  monotonic(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  every(ms: number, tick: () => void): () => void
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
    every: (ms, tick) => {
      const timer = setInterval(tick, ms)
      return () => clearInterval(timer)
    },
    offset_ms: () => offset,
    setOffset: (ms) => {
      offset = ms
    },
  }
}
