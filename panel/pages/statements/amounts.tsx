import { type Statement, statement_kind_labels, statement_kinds } from '#contract/statements.ts'
import { Money } from '#panel/ui/money.tsx'

/** From opening to closing balance, with every kind of movement that the month had. */
export function StatementAmounts({ statement }: { statement: Statement }) {
  const kinds = statement_kinds.filter((kind) => statement[`${kind}_usd`] !== 0)
  return (
    <dl className="self-start text-sm">
      <Line title="Opening balance" usd={statement.opening_usd} />
      {kinds.map((kind) => (
        <Line
          key={kind}
          title={statement_kind_labels[kind]}
          usd={statement[`${kind}_usd`]}
          signed
        />
      ))}
      <Line title="Closing balance" usd={statement.closing_usd} />
    </dl>
  )
}

type LineProps = { title: string; usd: number; signed?: boolean }

function Line({ title, usd, signed = false }: LineProps) {
  return (
    <div className={`flex justify-between gap-4 py-1 ${signed ? '' : 'font-medium'}`}>
      <dt>{title}</dt>
      <dd>
        <Money usd={usd} signed={signed} />
      </dd>
    </div>
  )
}
