import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { cellOfId } from '#kernel/id.ts'
import {
  type AuditHead,
  type AuditReport,
  changedHeads,
  readAuditHeads,
  verifyAudit,
} from '#main/audit.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Settings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'
import { requireFile } from './require_file.ts'
import { withEachCell } from './with_database.ts'

type Options = { json?: boolean; save?: string; against?: string }

/** Exits with 1 when a chain is broken, so a scheduler can alert on it. */
export async function auditVerify({ json, save, against }: Options): Promise<void> {
  if (against !== undefined) await requireFile('against', against)
  const earlier = against === undefined ? [] : parseHeads(await readFile(against, 'utf8'))
  if (save !== undefined) await writeFile(save, '', { mode: 0o600 })
  const reports = await withEachCell(async (db, progress, settings) => {
    const showProgress = (entries: number) => progress.update(`(${entries} entries verified)`)
    const found = await verifyAudit(db, showProgress)
    const of_cell = earlier.filter(({ account_id }) => isInCell(settings, account_id))
    found.faults.push(...(await changedHeads(db, of_cell)))
    if (save !== undefined) await saveHeads(db, save)
    return found
  })
  const report = addUp(reports.map(({ value }) => value))
  process.stdout.write(json ? toJson(report) : formatReport(report))
  if (report.faults.length > 0) process.exitCode = 1
}

/** An ID may name a cell that doesn't exist: it belongs to cell 0. */
function isInCell({ cell, more_cells }: Settings, account_id: string): boolean {
  const named = cellOfId(account_id)
  return cell === (more_cells.some(({ number }) => number === named) ? named : 0)
}

const addUp = (reports: readonly AuditReport[]): AuditReport => ({
  accounts: reports.reduce((sum, { accounts }) => sum + accounts, 0),
  entries: reports.reduce((sum, { entries }) => sum + entries, 0),
  faults: reports.flatMap(({ faults }) => faults),
})

/** One line per account: its id, the number of entries in its chain, and the last entry's hash. */
async function saveHeads(db: Database, file: string): Promise<void> {
  const lines: string[] = []
  for await (const { account_id, position, hash } of readAuditHeads(db)) {
    lines.push(`${account_id} ${position} ${hash}\n`)
  }
  await appendFile(file, lines.join(''))
}

function parseHeads(text: string): AuditHead[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, account_id, position, hash] = /^(acct_\w+) (\d+) (\w+)$/.exec(line) ?? []
      if (account_id === undefined || position === undefined || hash === undefined) {
        throw new UsageError('The file passed to --against was not written by --save.')
      }
      return { account_id, position: BigInt(position), hash }
    })
}

function formatReport({ accounts, entries, faults }: AuditReport): string {
  const lines = faults.map(
    ({ account_id, position, fault }) => `${account_id} at entry ${position}: ${fault}`,
  )
  const verdict = faults.length === 0 ? 'unbroken' : `${faults.length} faults`
  return `${[...lines, `${accounts} accounts, ${entries} entries: ${verdict}`].join('\n')}\n`
}

function toJson(report: AuditReport): string {
  const plain = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value
  return `${JSON.stringify(report, plain)}\n`
}
