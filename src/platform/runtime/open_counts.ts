/** A limit on how many things of one key may be open at the same time. */
export type OpenLimit = { key: string; limit: number }

/** Counts open things, such as streams, each under all its keys. */
export type OpenCounts = {
  /** Counts one under every key, or under none and returns false if a limit is reached. */
  open(limits: readonly OpenLimit[]): boolean | Promise<boolean>
  close(limits: readonly OpenLimit[]): void
}

export function localOpenCounts(): OpenCounts {
  const counts = new Map<string, number>()
  const countOf = (key: string) => counts.get(key) ?? 0
  return {
    open: (limits) => {
      if (limits.some(({ key, limit }) => countOf(key) >= limit)) return false
      for (const { key } of limits) counts.set(key, countOf(key) + 1)
      return true
    },
    close: (limits) => {
      for (const { key } of limits) {
        if (countOf(key) > 1) counts.set(key, countOf(key) - 1)
        else counts.delete(key)
      }
    },
  }
}
