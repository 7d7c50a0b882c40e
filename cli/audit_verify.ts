import { readFile, writeFile } from 'node:fs/promises'
import {
  type AuditHead,
  type AuditReport,
  changedHeads,
  readAuditHeads,
  verifyAudit,
} from '#main/audit.ts'
import type { Database } from '#platform/postgres/db.ts'
import { UsageError } from './exit_codes.ts'
import { withDatabase } from './with_database.ts'

type Options = { json?: boolean; save?: string; against?: string }

/** Exits with 1 when a chain is broken, so a scheduler can alert on it. */
export async function auditVerify({ json, save, against }: Options): Promise<void> {
  const earlier = against === undefined ? [] : parseHeads(await readFile(against, 'utf8'))
  const report = await withDatabase(async (db, progress) => {
    const showProgress = (entries: number) => progress.update(`(${entries} entries verified)`)
    const found = await verifyAudit(db, showProgress)
    found.faults.push(...(await changedHeads(db, earlier)))
    if (save !== undefined) await saveHeads(db, save)
    return found
  })
  process.stdout.write(json ? toJson(report) : formatReport(report))
  if (report.faults.length > 0) process.exitCode = 1
}

/** One line per account: its id, the number of entries in its chain, and the last entry's hash. */
async function saveHeads(db: Database, file: string): Promise<void> {
  const lines: string[] = []
  for await (const { account_id, position, hash } of readAuditHeads(db)) {
    lines.push(`${account_id} ${position} ${hash}\n`)
  }
  await writeFile(file, lines.join(''), { mode: 0o600 })
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
