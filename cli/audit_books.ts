import { type BooksReport, type ChainDifference, proveBooks, proveCustody } from '#main/audit.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { withEachCell, withOtherCells } from './with_database.ts'

type Report = BooksReport & { custody: ChainDifference[] }

/** Exits with 1 when a proof fails or coins are missing, so a scheduler can alert on it. */
export async function auditBooks(options: { json?: boolean }): Promise<void> {
  const reports = await withEachCell(async (db, progress, settings) => ({
    ...(await proveBooks(db, undefined, (accounts) =>
      progress.update(`(${accounts} accounts proven)`),
    )),
    custody: await compareWallets(db, settings),
  }))
  const isOnly = reports.length === 1
  for (const { cell, value } of reports) {
    const named = isOnly ? value : { cell, ...value }
    const heading = isOnly ? '' : `Cell ${cell}\n`
    process.stdout.write(
      options.json ? `${JSON.stringify(named)}\n` : `${heading}${formatReport(value, cell)}`,
    )
  }
  if (reports.some(({ value }) => hasViolations(value))) process.exitCode = 1
}

/** The cells share the cold wallets, so cell 0 compares all wallets with the books of all cells. */
function compareWallets(db: Database, settings: Settings): Promise<ChainDifference[]> {
  if (settings.cell !== 0) return Promise.resolve([])
  return withOtherCells(settings, (others) => proveCustody([db, ...others], settings))
}

const hasViolations = ({ violations, custody }: Report): boolean =>
  violations.length > 0 || custody.some(({ is_short }) => is_short)

function formatReport(report: Report, cell: number): string {
  const { figures, violations, custody, accounts } = report
  const rows = Object.entries({ accounts, ...figures }).map(
    ([name, value]) => `${name.padEnd(20)}${value}`,
  )
  const failures = violations.map(
    ({ proof, id, sentence }) => `FAILED: ${proof}: ${id}: ${sentence}`,
  )
  const verdict = hasViolations(report)
    ? `${violations.length + custody.filter(({ is_short }) => is_short).length} violations.`
    : 'The books are sound.'
  const of_chains = cell === 0 ? custodyLines(custody) : []
  return `${[...rows, ...of_chains, ...failures, verdict].join('\n')}\n`
}

function custodyLines(custody: readonly ChainDifference[]): string[] {
  if (custody.length === 0) return ['No chain is configured, so custody was not checked.']
  return custody.map((one) => {
    const name = `${one.chain} ${one.asset}`.padEnd(20)
    if (one.fault !== null) return `${name}could not be checked: ${one.fault}`
    const { on_chain_usd, ledger_usd, float_usd, in_flight_usd, difference_usd } = one
    const verdict = one.is_short ? 'FAILED: custody covers customer balances' : 'covered'
    return (
      `${name}on chain ${on_chain_usd}, books ${ledger_usd}, float ${float_usd}, ` +
      `in flight ${in_flight_usd}, difference ${difference_usd}: ${verdict}`
    )
  })
}
