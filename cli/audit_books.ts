import { type BooksReport, proveBooks } from '#main/audit.ts'
import { withDatabase } from './with_database.ts'

/** Exits with 1 where a proof fails, so that a schedule can watch it. */
export async function auditBooks(options: { json?: boolean }): Promise<void> {
  const report = await withDatabase(proveBooks)
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : textOf(report))
  if (report.violations.length > 0) process.exitCode = 1
}

function textOf({ figures, violations }: BooksReport): string {
  const rows = Object.entries(figures).map(([name, value]) => `${name.padEnd(20)}${value}`)
  const faults = violations.map(
    ({ proof, found }) => `not true: ${proof}: ${JSON.stringify(found)}`,
  )
  const verdict =
    violations.length === 0 ? 'The books are sound.' : `${violations.length} violations.`
  return `${[...rows, ...faults, verdict].join('\n')}\n`
}
