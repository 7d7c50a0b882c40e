import type { SystemHealth } from '#contract/system.ts'
import { Status } from '#panel/ui/badge.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorQuery } from './operator_api.ts'
import { PlannedMaintenance } from './planned_maintenance.tsx'

const formatReading = (value: number | null, unit: string) =>
  value === null ? (
    'Unknown'
  ) : (
    <span className="num">{`${Math.round(value).toLocaleString('en')} ${unit}`}</span>
  )

export function Health() {
  const health = useOperatorQuery<SystemHealth>('/health')
  return (
    <>
      <PageHeader title="Health" description="Live status of each component." />
      <QueryBoundary query={health}>
        {({ status, version, checked_at, components: { issuer, rails, network } }) => (
          <div className="grid gap-4 lg:grid-cols-2">
            <Section title="Service" action={<Status of={status} />}>
              <DescriptionList
                rows={[
                  ['Version', version],
                  ['Checked', <Time key="at" at={checked_at} />],
                ]}
              />
            </Section>
            <Section title="Card networks" action={<Status of={issuer.status} />}>
              <DescriptionList
                rows={[
                  ['Latency', formatReading(issuer.latency_ms, 'ms')],
                  issuer.message !== null && ['Message', issuer.message],
                ]}
              />
            </Section>
            <Section title="Deposits and withdrawals" action={<Status of={rails.status} />}>
              <DescriptionList
                rows={[
                  ['Latency', formatReading(rails.latency_ms, 'ms')],
                  rails.message !== null && ['Message', rails.message],
                ]}
              />
            </Section>
            <Section
              title={`${network.chain.toUpperCase()} network`}
              action={<Status of={network.status} />}
            >
              <DescriptionList
                rows={[
                  ['Latest block', formatReading(network.block_height, '')],
                  ['Lag', formatReading(network.lag_seconds, 's')],
                  network.message !== null && ['Message', network.message],
                ]}
              />
            </Section>
            <div className="lg:col-span-2">
              <PlannedMaintenance />
            </div>
          </div>
        )}
      </QueryBoundary>
    </>
  )
}
