import type { SystemHealth } from '#contract/system.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { ComponentHealth, Probes } from '#platform/runtime/health.ts'
import type { Settings } from '#settings/settings.ts'
import { findCurrentMaintenance, maintenanceView } from './maintenance_store.ts'

type HealthContext = { tx: Tx; probes: Probes; settings: Settings }

export async function systemHealth(
  { tx, probes, settings }: HealthContext,
  now: Date,
): Promise<SystemHealth> {
  const [issuer, rails, network, maintenance] = await Promise.all([
    probes.issuer(),
    probes.rails(),
    probes.network(),
    // Health must be readable while the database is down.
    findCurrentMaintenance(tx, now).catch(() => []),
  ])
  const isInMaintenance = maintenance.some(({ starts_at }) => starts_at <= now)
  return {
    status: isInMaintenance ? 'maintenance' : overallStatus([issuer, rails, network]),
    components: { issuer, rails, network },
    maintenance: maintenance.map(maintenanceView),
    version: settings.version,
    checked_at: now.toISOString(),
  }
}

/** One component down degrades the service; all of them down is an outage. */
function overallStatus(components: readonly ComponentHealth[]): ComponentHealth['status'] {
  if (components.every(({ status }) => status === 'outage')) return 'outage'
  if (components.every(({ status }) => status === 'operational')) return 'operational'
  if (components.some(({ status }) => status === 'maintenance')) return 'maintenance'
  return 'degraded'
}
