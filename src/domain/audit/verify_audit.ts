import type { Database } from '#platform/postgres/db.ts'
import { type AuditRow, auditHash, genesisHash } from './audit.ts'

export type AuditFault = { account_id: string; position: bigint; fault: string }
export type AuditReport = { accounts: number; entries: number; faults: AuditFault[] }

const PAGE = 1_000

/**
 * Walks every account's chain from its beginning to its head. Entries that are being added
 * meanwhile lie beyond the head that was read, and wait for the next walk.
 */
export async function verifyAudit(
  db: Database,
  onProgress: (entries: number) => void = () => undefined,
): Promise<AuditReport> {
  const report: AuditReport = { accounts: 0, entries: 0, faults: await missingHeads(db) }
  let after = ''
  for (;;) {
    const heads = await db.rows<Head>(
      `select account_id, audit_count, audit_hash from account_heads
        where account_id > $1 order by account_id limit ${PAGE}`,
      [after],
    )
    for (const head of heads) {
      report.accounts += 1
      report.entries += await verifyChain(db, head, report.faults)
      onProgress(report.entries)
    }
    const last = heads.at(-1)
    if (last === undefined) return report
    after = last.account_id
  }
}

/** An account is opened with its head in one transaction, so none is ever without. */
async function missingHeads(db: Database): Promise<AuditFault[]> {
  const accounts = await db.rows<{ id: string }>(
    `select id from accounts a
      where not exists (select from account_heads h where h.account_id = a.id)`,
  )
  return accounts.map(({ id }) => ({ account_id: id, position: 0n, fault: 'the head is missing' }))
}

/** Head and entries are read in one statement: what is being added is in both or in neither. */
async function hasStrays(db: Database, account_id: string): Promise<boolean> {
  const strays = await db.rows(
    `select 1 from audit_entries e join account_heads h using (account_id)
      where account_id = $1 and (e.position < 1 or e.position > h.audit_count) limit 1`,
    [account_id],
  )
  return strays.length > 0
}

type Head = { account_id: string; audit_count: bigint; audit_hash: string }

async function verifyChain(db: Database, head: Head, faults: AuditFault[]): Promise<number> {
  let hash = genesisHash(head.account_id)
  let position = 0n
  const fault = (sentence: string) =>
    faults.push({ account_id: head.account_id, position, fault: sentence })
  for (;;) {
    const rows = await db.rows<AuditRow>(
      `select * from audit_entries
        where account_id = $1 and position > $2 and position <= $3
        order by position limit ${PAGE}`,
      [head.account_id, position, head.audit_count],
    )
    for (const { hash: recorded, ...entry } of rows) {
      if (entry.position !== position + 1n) fault('an entry is missing after this one')
      position = entry.position
      if (entry.prev_hash !== hash) fault('it does not follow the entry before it')
      if (auditHash(entry) !== recorded) fault('its content was changed')
      hash = recorded
    }
    if (rows.length < PAGE) break
  }
  if (position !== head.audit_count || hash !== head.audit_hash)
    fault('the chain does not reach its head')
  if (await hasStrays(db, head.account_id)) fault('an entry stands outside the chain')
  return Number(position)
}
