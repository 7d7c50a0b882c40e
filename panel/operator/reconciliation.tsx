import { CircleCheck } from 'lucide-react'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { DescriptionList, PageHeader, Section } from '#panel/ui/section.tsx'
import { Time } from '#panel/ui/time.tsx'
import { useOperatorQuery } from './operator_api.ts'
import type { ReconciliationReport } from './shapes.ts'

export function Reconciliation() {
  const report = useOperatorQuery<ReconciliationReport>('/reconciliation')
  return (
    <>
      <PageHeader
        title="Reconciliation"
        description="Ledger balances compared with blockchains and card networks."
      />
      <QueryBoundary query={report}>{(found) => <Report report={found} />}</QueryBoundary>
    </>
  )
}

function Report({ report }: { report: ReconciliationReport }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <LedgerProofs report={report} />
      {report.chains.map((chain) => (
        <ChainBalance key={chain.chain + chain.asset} chain={chain} />
      ))}
      {report.network.map((network) => (
        <Section
          key={network.network}
          title={humanize(network.network)}
          action={<ComparisonBadge difference_usd={network.difference_usd} />}
        >
          <DescriptionList
            rows={[
              ['Ledger balance', <Money key="books" usd={network.ledger_usd} />],
              ['Captures minus refunds', <Money key="said" usd={network.transactions_usd} />],
              ['Difference', <Money key="difference" usd={network.difference_usd} />],
            ]}
          />
        </Section>
      ))}
    </div>
  )
}

function LedgerProofs({ report: { checked_at, violations } }: { report: ReconciliationReport }) {
  return (
    <Section title="Ledger" className="lg:col-span-2" action={<Time at={checked_at} />}>
      {violations.length === 0 ? (
        <p className="flex items-center gap-2">
          <CircleCheck className="size-4 text-good" aria-hidden /> All proofs pass.
        </p>
      ) : (
        <ul className="list-disc space-y-1 pl-5 text-bad">
          {violations.map(({ proof }) => (
            <li key={proof}>{proof}</li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function ChainBalance({ chain }: { chain: ReconciliationReport['chains'][number] }) {
  const { on_chain_usd, difference_usd, fault } = chain
  return (
    <Section
      title={`${chain.asset} on ${chain.chain.toUpperCase()}`}
      action={<ComparisonBadge difference_usd={difference_usd} is_short={chain.is_short} />}
    >
      <DescriptionList
        rows={[
          ['Ledger balance', <Money key="books" usd={chain.ledger_usd} />],
          ['In transit', <Money key="flight" usd={chain.in_flight_usd} />],
          ['Your float', <Money key="float" usd={chain.float_usd} />],
          on_chain_usd !== null && ['On-chain balance', <Money key="chain" usd={on_chain_usd} />],
          difference_usd !== null && ['Difference', <Money key="d" usd={difference_usd} />],
          fault !== null && ['Error', fault],
        ]}
      />
    </Section>
  )
}

type ComparisonProps = { difference_usd: number | null; is_short?: boolean }

function ComparisonBadge({ difference_usd, is_short = false }: ComparisonProps) {
  if (difference_usd === null) return <Badge tone="warn">Not compared</Badge>
  if (is_short) return <Badge tone="bad">Shortfall</Badge>
  return difference_usd === 0 ? (
    <Badge tone="good">Balanced</Badge>
  ) : (
    <Badge tone="warn">Mismatch</Badge>
  )
}
