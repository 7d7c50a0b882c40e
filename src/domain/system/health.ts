import type { SystemHealth } from '#contract/system.ts'
import type { Seams } from '#platform/context.ts'
import type { ComponentHealth } from '#platform/health.ts'

/** Measured now, part by part, at the same time. */
export async function systemHealth(
  { probes, settings }: Pick<Seams, 'probes' | 'settings'>,
  now: Date,
): Promise<SystemHealth> {
  const [issuer, rails, network] = await Promise.all([
    probes.issuer(),
    probes.rails(),
    probes.network(),
  ])
  return {
    status: overall([issuer, rails, network]),
    components: { issuer, rails, network },
    maintenance: [],
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
