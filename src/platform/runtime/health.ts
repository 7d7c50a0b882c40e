import type { Tx } from '#platform/postgres/db.ts'
import type { Clock } from './clock.ts'

export type ComponentHealth = {
  status: 'operational' | 'degraded' | 'outage' | 'maintenance'
  message: string | null
}

/** One probe per component of the service's health. */
export type Probes = {
  issuer(): Promise<ComponentHealth & { latency_ms: number | null }>
  rails(): Promise<ComponentHealth & { latency_ms: number | null }>
  network(): Promise<
    ComponentHealth & { chain: string; block_height: number | null; lag_seconds: number | null }
  >
}

/**
 * Probes of a service without a card network and without a chain: only the database is measured.
 */
export function disconnectedProbes(db: Tx, clock: Clock): Probes {
  return {
    issuer: async () => ({
      status: 'outage',
      message: 'No issuer link is connected.',
      latency_ms: null,
    }),
    rails: async () => {
      const started = clock.monotonic()
      const isUp = await db.rows('select 1').then(
        () => true,
        () => false,
      )
      const latency_ms = Math.round((clock.monotonic() - started) * 100) / 100
      return isUp
        ? { status: 'degraded', message: 'The books answer; no chain is connected.', latency_ms }
        : { status: 'outage', message: 'The database does not answer.', latency_ms: null }
    },
    network: async () => ({
      status: 'outage',
      message: 'No chain node is connected.',
      chain: 'tron',
      block_height: null,
      lag_seconds: null,
    }),
  }
}

/** Reports `degraded` while there is a fault that the probe itself does not measure. */
export function degradedBy<Health extends ComponentHealth>(
  probe: () => Promise<Health>,
  fault: () => string | null,
): () => Promise<Health> {
  return async () => {
    const health = await probe()
    const message = fault()
    if (message === null || health.status !== 'operational') return health
    return { ...health, status: 'degraded', message }
  }
}
