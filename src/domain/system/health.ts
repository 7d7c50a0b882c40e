import type { SystemHealth } from '#contract/system.ts'
import { pausedSentence, type Rail } from '#domain/risk/kill_switch.ts'
import { findKillSwitches, type KillSwitch } from '#domain/risk/kill_switch_store.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { ComponentHealth, Probes } from '#platform/runtime/health.ts'
import type { Settings } from '#settings/settings.ts'
import { findCurrentMaintenance, maintenanceView } from './maintenance_store.ts'

type HealthContext = { tx: Tx; probes: Probes; settings: Settings }

export async function systemHealth(
  { tx, probes, settings }: HealthContext,
  now: Date,
): Promise<SystemHealth> {
  const [measured_issuer, measured_rails, network, maintenance, switches] = await Promise.all([
    probes.issuer(),
    probes.rails(),
    probes.network(),
    // Health must be readable while the database is down.
    findCurrentMaintenance(tx, now).catch(() => []),
    findKillSwitches(tx).catch(() => []),
  ])
  const issuer = withPauses(measured_issuer, switches, ['authorizations', 'issuing'])
  const rails = withPauses(measured_rails, switches, ['topups', 'withdrawals'])
  const isInMaintenance = maintenance.some(({ starts_at }) => starts_at <= now)
  return {
    status: isInMaintenance ? 'maintenance' : overallStatus([issuer, rails, network]),
    components: { issuer, rails, network },
    maintenance: maintenance.map(maintenanceView),
    version: settings.version,
    checked_at: now.toISOString(),
  }
}

/** A component that works is degraded while the operator has paused a part of it. */
function withPauses<Component extends ComponentHealth>(
  component: Component,
  switches: readonly KillSwitch[],
  parts: readonly Rail[],
): Component {
  const paused = parts.filter((part) => switches.some(({ rail, on }) => on && rail === part))
  if (paused.length === 0 || component.status !== 'operational') return component
  return { ...component, status: 'degraded', message: paused.map(pausedSentence).join(' ') }
}

/** One component down degrades the service; all of them down is an outage. */
function overallStatus(components: readonly ComponentHealth[]): ComponentHealth['status'] {
  if (components.every(({ status }) => status === 'outage')) return 'outage'
  if (components.every(({ status }) => status === 'operational')) return 'operational'
  if (components.some(({ status }) => status === 'maintenance')) return 'maintenance'
  return 'degraded'
}
