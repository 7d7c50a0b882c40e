import { classes } from '#panel/ui/classes.ts'
import { Money } from '#panel/ui/money.tsx'
import { QueryBoundary } from '#panel/ui/query_boundary.tsx'
import { type AgentLine, useAgentLines } from './agent_lines.ts'
import { DownloadButton } from './download_button.tsx'

/** A statement by agent: what each one and its cards moved, and the owner's own part. */
export function StatementByAgent({ period }: { period: string }) {
  const query = useAgentLines(period)
  return (
    <QueryBoundary query={query}>
      {(lines) =>
        lines.length === 1 ? (
          <p className="py-1 text-sm text-soft">No agent moved money in this month.</p>
        ) : (
          <AgentTable period={period} lines={lines} />
        )
      }
    </QueryBoundary>
  )
}

type AgentColumn = readonly [title: string, usd: (line: AgentLine) => number, look?: string]

/** A phone has no room for all of them; the CSV has. */
const columns: readonly AgentColumn[] = [
  ['Loaded', ({ loaded_usd, unloaded_usd }) => sum(loaded_usd, -unloaded_usd)],
  ['Purchases', ({ spent_usd, refunds_usd }) => sum(spent_usd, refunds_usd)],
  [
    'Withdrawals',
    ({ withdrawals_usd, fees_usd }) => sum(withdrawals_usd, fees_usd),
    'max-sm:hidden',
  ],
  ['All kinds', ({ total_usd }) => total_usd],
]

/** In whole micro-dollars, because sums of floats show stray digits. */
const sum = (one: number, other: number) => (Math.round(one * 1e6) + Math.round(other * 1e6)) / 1e6

function AgentTable({ period, lines }: { period: string; lines: readonly AgentLine[] }) {
  return (
    <div className="space-y-2">
      <table className="w-full text-sm" aria-label="By agent">
        <thead>
          <tr className="text-soft">
            <th scope="col" className="py-1 text-left font-medium">
              Agent
            </th>
            {columns.map(([title, , look]) => (
              <th key={title} scope="col" className={classes('py-1 text-right font-medium', look)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.client_id ?? 'owner'}>
              <th scope="row" className="py-1 text-left font-normal wrap-anywhere">
                {line.agent}
              </th>
              {columns.map(([title, usd, look]) => (
                <td key={title} className={classes('num py-1 text-right', look)}>
                  <Money usd={usd(line)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <DownloadButton period={period} format="agents.csv" />
    </div>
  )
}
