import { type Statement, statement_kinds } from '#contract/statements.ts'
import { useOperationList } from '#panel/queries.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { FileText } from '#panel/ui/icons.ts'
import { Money } from '#panel/ui/money.tsx'
import { PageHeader, Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'
import { type Column, Table } from '#panel/ui/table.tsx'
import { monthName } from './spending/months.ts'
import { StatementAmounts } from './statements/amounts.tsx'
import { StatementByAgent } from './statements/by_agent.tsx'
import { DownloadButton } from './statements/download_button.tsx'

type Row = Statement & { id: string }

const columns: readonly Column<Row>[] = [
  {
    title: 'Month',
    sortKey: ({ period }) => period,
    cell: (row) => (
      <span className="block">
        <span className="block font-medium whitespace-nowrap">{monthName(row.period)}</span>
        {!row.is_final && <Badge tone="accent">In progress</Badge>}
      </span>
    ),
  },
  {
    title: 'Opening',
    sortKey: ({ opening_usd }) => opening_usd,
    right: true,
    wide_only: true,
    cell: ({ opening_usd }) => <Money usd={opening_usd} />,
  },
  {
    title: 'In',
    right: true,
    wide_only: true,
    sortKey: (row) => sum(row, 1),
    cell: (row) => <Money usd={sum(row, 1)} />,
  },
  {
    title: 'Out',
    right: true,
    wide_only: true,
    sortKey: (row) => sum(row, -1),
    cell: (row) => <Money usd={sum(row, -1)} />,
  },
  {
    title: 'Closing',
    sortKey: ({ closing_usd }) => closing_usd,
    right: true,
    cell: ({ closing_usd }) => <Money usd={closing_usd} className="font-medium" />,
  },
  {
    title: 'Download',
    right: true,
    cell: ({ period }) => (
      <span className="inline-flex gap-1 max-sm:flex-col">
        <DownloadButton period={period} format="csv" />
        <DownloadButton period={period} format="pdf" />
      </span>
    ),
  },
]

/** The kinds that brought money in (1) or took it out (-1), in whole micro-dollars. */
function sum(statement: Statement, sign: 1 | -1): number {
  const amounts = statement_kinds.map((kind) => Math.round(statement[`${kind}_usd`] * 1e6))
  return amounts.filter((amount) => amount * sign > 0).reduce((one, other) => one + other, 0) / 1e6
}

export function Statements() {
  const list = useOperationList('list_statements', {})
  const rows = list.rows?.map((row) => ({ ...row, id: row.period }))
  return (
    <>
      <PageHeader
        title="Statements"
        description="Monthly (UTC) statements of your balance and all cards, including holds."
      />
      <Section flush>
        <Table
          label="Statements"
          list={{ ...list, rows }}
          columns={columns}
          rowName={({ period }) => monthName(period)}
          details_name="Amounts"
          details={(row) => (
            <div className="grid gap-x-10 gap-y-4 px-4 pt-1 pb-4 lg:grid-cols-[1fr_2fr]">
              <StatementAmounts statement={row} />
              <StatementByAgent period={row.period} />
            </div>
          )}
          empty={
            <EmptyState icon={FileText} title="No statements">
              Your first statement shows up here.
            </EmptyState>
          }
        />
      </Section>
    </>
  )
}
