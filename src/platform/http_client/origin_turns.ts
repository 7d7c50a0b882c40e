export type OriginTurns = {
  /** Resolves when a request to this origin may be sent. Call `end` after its response. */
  take(origin: string): Promise<void> | undefined
  end(origin: string): void
}

type Origin = { taken: number; waiting: Set<() => void> }

/** Requests that hang must not delay others for long. */
const WAIT_MS_MAX = 250

/**
 * Beyond a number of concurrent requests to an origin, a request waits for another to end, because
 * opening a connection costs more than a delivery. In `npm run bench -- mixed`, half of all
 * deliveries opened one, because a batch makes hundreds due at the same time.
 */
export function originTurns(concurrent_max: number): OriginTurns {
  const origins = new Map<string, Origin>()

  const wait = (origin: Origin): Promise<void> =>
    new Promise((resolve) => {
      const begin = () => {
        clearTimeout(timer)
        if (!origin.waiting.delete(begin)) return
        origin.taken += 1
        resolve()
      }
      // Responses that arrived while the event loop was busy are read first.
      const timer = setTimeout(() => setImmediate(begin), WAIT_MS_MAX)
      origin.waiting.add(begin)
    })

  return {
    take: (name) => {
      const origin = origins.get(name) ?? { taken: 0, waiting: new Set() }
      origins.set(name, origin)
      if (origin.taken >= concurrent_max) return wait(origin)
      origin.taken += 1
      return undefined
    },
    end: (name) => {
      const origin = origins.get(name)
      if (origin === undefined) return
      origin.taken -= 1
      const [next] = origin.waiting
      if (next !== undefined && origin.taken < concurrent_max) next()
      if (origin.taken === 0 && origin.waiting.size === 0) origins.delete(name)
    },
  }
}
