import { type AuditReport, verifyAudit } from '#main/audit.ts'
import { withDatabase } from './with_database.ts'

/** Exits with 1 where a chain is broken, so that a schedule can watch it. */
export async function auditVerify(options: { json?: boolean }): Promise<void> {
  const report = await withDatabase((db) => verifyAudit(db, showProgress))
  if (process.stderr.isTTY) process.stderr.write('\r')
  process.stdout.write(options.json ? jsonOf(report) : textOf(report))
  if (report.faults.length > 0) process.exitCode = 1
}

function showProgress(entries: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${entries} entries`)
}

function textOf({ accounts, entries, faults }: AuditReport): string {
  const lines = faults.map(
    ({ account_id, position, fault }) => `${account_id} at entry ${position}: ${fault}`,
  )
  const verdict = faults.length === 0 ? 'unbroken' : `${faults.length} faults`
  return `${[...lines, `${accounts} accounts, ${entries} entries: ${verdict}`].join('\n')}\n`
}

function jsonOf(report: AuditReport): string {
  const plain = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value
  return `${JSON.stringify(report, plain)}\n`
}
