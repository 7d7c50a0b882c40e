import { Wrench } from 'lucide-react'
import type { SystemHealth } from '#contract/system.ts'
import { One } from '#panel/ui/one.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorRead } from './operator_api.ts'

/** What is announced and not over yet. */
export function PlannedMaintenance() {
  const health = useOperatorRead<SystemHealth>('/health')
  return (
    <One read={health}>
      {({ maintenance }) => (
        <Section title="Scheduled and in progress" flush>
          {maintenance.length === 0 ? (
            <Empty icon={Wrench} title="No scheduled maintenance">
              Maintenance you announce shows here and in get_system_health until it ends.
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {maintenance.map((plan) => (
                <li key={plan.starts_at + plan.message} className="px-4 py-3">
                  <p className="font-medium">{plan.message}</p>
                  <p className="text-sm text-soft">
                    <Time at={plan.starts_at} /> to <Time at={plan.ends_at} />
                  </p>
                </li>
              ))}
            </ul>
          )}
        </Section>
      )}
    </One>
  )
}
