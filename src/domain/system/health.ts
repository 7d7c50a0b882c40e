import type { SystemHealth } from '#contract/system.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { ComponentHealth } from '#platform/runtime/health.ts'
import { maintenancesAhead, maintenanceView } from './maintenance_store.ts'

type Parts = Pick<Dependencies, 'probes' | 'settings'> & { tx: Tx }

/** Measured now, part by part, at the same time. */
export async function systemHealth(
  { tx, probes, settings }: Parts,
  now: Date,
): Promise<SystemHealth> {
  const [issuer, rails, network, ahead] = await Promise.all([
    probes.issuer(),
    probes.rails(),
    probes.network(),
    // Health is told even while the database is not there to say what was planned.
    maintenancesAhead(tx, now).catch(() => []),
  ])
  const isUnderWay = ahead.some(({ starts_at }) => starts_at <= now)
  return {
    status: isUnderWay ? 'maintenance' : overall([issuer, rails, network]),
    components: { issuer, rails, network },
    maintenance: ahead.map(maintenanceView),
    version: settings.version,
    checked_at: now.toISOString(),
  }
}

/** One part down makes the service degraded; all of them down is an outage. */
function overall(parts: readonly ComponentHealth[]): ComponentHealth['status'] {
  if (parts.every((part) => part.status === 'outage')) return 'outage'
  if (parts.every((part) => part.status === 'operational')) return 'operational'
  if (parts.some((part) => part.status === 'maintenance')) return 'maintenance'
  return 'degraded'
}
