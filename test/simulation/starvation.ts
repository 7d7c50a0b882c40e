import { readFileSync } from 'node:fs'

const SAMPLE_MS = 250
/** Starved: a process waited for a core this share of the last second or more. */
const SHARE = 0.5
const REMEMBERED_MS = 4_000

export type StarvationWatch = {
  /** True if a process of the simulation could not run shortly before. */
  isStarved(): boolean
  stop(): void
}

/**
 * Notices a machine that is busy with other programs. A host that gets no processor answers 91 when
 * its deadline passes, which is right and says nothing about Florin. Linux counts how long a
 * process waited for a core; elsewhere nothing is excused.
 */
export function watchStarvation(pids: () => readonly number[]): StarvationWatch {
  const waited = new Map<number, { at: number; ms: number }[]>()
  let starved_at = Number.NEGATIVE_INFINITY
  const timer = setInterval(() => {
    const now = performance.now()
    for (const pid of pids()) {
      const ms = waitedMs(pid)
      if (ms === null) continue
      const samples = (waited.get(pid) ?? []).filter(({ at }) => now - at <= 1_000)
      const [oldest] = samples
      if (oldest !== undefined && now - oldest.at > 500) {
        if ((ms - oldest.ms) / (now - oldest.at) >= SHARE) starved_at = now
      }
      waited.set(pid, [...samples, { at: now, ms }])
    }
  }, SAMPLE_MS)
  timer.unref()
  return {
    isStarved: () => performance.now() - starved_at < REMEMBERED_MS,
    stop: () => clearInterval(timer),
  }
}

function waitedMs(pid: number): number | null {
  try {
    const [, waited = '0'] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return Number(waited) / 1_000_000
  } catch {
    return null
  }
}
