import type { SystemHealth } from '#contract/system.ts'
import { Wrench } from '#panel/ui/icons.ts'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorQuery } from './operator_api.ts'

export function PlannedMaintenance() {
  const health = useOperatorQuery<SystemHealth>('/health')
  return (
    <QueryBoundary query={health}>
      {({ maintenance }) => (
        <Section title="Scheduled maintenance" flush>
          {maintenance.length === 0 ? (
            <EmptyState icon={Wrench} title="No scheduled maintenance">
              Maintenance you announce shows here and in the API’s system health until it ends.
            </EmptyState>
          ) : (
            <ul className="divide-y divide-line">
              {maintenance.map((plan) => (
                <li key={plan.starts_at + plan.message} className="px-4 py-3">
                  <p className="font-medium">{plan.message}</p>
                  <p className="text-sm text-soft">
                    <Time at={plan.starts_at} /> to{' '}
                    <Time at={plan.ends_at} start={plan.starts_at} />
                  </p>
                </li>
              ))}
            </ul>
          )}
        </Section>
      )}
    </QueryBoundary>
  )
}
