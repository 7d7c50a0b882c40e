import type { SystemHealth } from '#contract/system.ts'
import { Status } from '#panel/ui/badge.tsx'
import { One } from '#panel/ui/one.tsx'
import { Facts, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorRead } from './operator_api.ts'
import { PlannedMaintenance } from './planned_maintenance.tsx'

const shown = (value: number | null, unit: string) =>
  value === null ? (
    'not known'
  ) : (
    <span className="num">{`${Math.round(value).toLocaleString('en')} ${unit}`}</span>
  )

export function Health() {
  const health = useOperatorRead<SystemHealth>('/health')
  return (
    <>
      <PageHeader title="Health" note="Measured as you look." />
      <One read={health}>
        {({ status, version, checked_at, components: { issuer, rails, network } }) => (
          <div className="grid gap-4 lg:grid-cols-2">
            <Section title="Service" action={<Status of={status} />}>
              <Facts
                rows={[
                  ['Version', version],
                  ['Measured', <Time key="at" at={checked_at} />],
                ]}
              />
            </Section>
            <Section title="Card links" action={<Status of={issuer.status} />}>
              <Facts
                rows={[
                  ['Answers in', shown(issuer.latency_ms, 'ms')],
                  issuer.message !== null && ['Says', issuer.message],
                ]}
              />
            </Section>
            <Section title="Deposits and withdrawals" action={<Status of={rails.status} />}>
              <Facts
                rows={[
                  ['Answer in', shown(rails.latency_ms, 'ms')],
                  rails.message !== null && ['Say', rails.message],
                ]}
              />
            </Section>
            <Section
              title={`Chain: ${network.chain.toUpperCase()}`}
              action={<Status of={network.status} />}
            >
              <Facts
                rows={[
                  ['Last block', shown(network.block_height, '')],
                  ['Behind by', shown(network.lag_seconds, 's')],
                  network.message !== null && ['Says', network.message],
                ]}
              />
            </Section>
            <div className="lg:col-span-2">
              <PlannedMaintenance />
            </div>
          </div>
        )}
      </One>
    </>
  )
}
