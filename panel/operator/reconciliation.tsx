import { Link } from 'wouter'
import { Badge, humanize } from '#panel/ui/badge.tsx'
import { CircleCheck, Clock } from '#panel/ui/icons.ts'
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

function LedgerProofs({ report: { proven_at, violations } }: { report: ReconciliationReport }) {
  return (
    <Section
      title="Proofs"
      className="lg:col-span-2"
      action={proven_at !== null && <Time at={proven_at} />}
    >
      {violations.length === 0 ? (
        <p className="flex items-center gap-2">
          {proven_at === null ? (
            <Clock className="size-4 text-soft" aria-hidden />
          ) : (
            <CircleCheck className="size-4 text-good" aria-hidden />
          )}
          {proven_at === null
            ? 'Not run yet. The first run is due within an hour.'
            : 'All proofs pass.'}
        </p>
      ) : (
        <ul className="space-y-3">
          {violations.map((finding) => (
            <Finding key={finding.proof + finding.object_id} finding={finding} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function Finding({ finding }: { finding: ReconciliationReport['violations'][number] }) {
  const { proof, account_id, object_id, sentence, first_seen_at } = finding
  return (
    <li>
      <p className="text-bad">{sentence}</p>
      <p className="break-all font-mono text-sm">{object_id}</p>
      {account_id !== null && (
        <Link href={`/accounts/${account_id}`} className="text-sm text-accent underline">
          View account
        </Link>
      )}
      <p className="text-sm text-soft">
        Expected: {proof} · since <Time at={first_seen_at} />
      </p>
    </li>
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
