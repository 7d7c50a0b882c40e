import type { Database } from '#platform/postgres/db.ts'
import { type AuditRow, auditHash, genesisHash } from './audit.ts'

export type AuditFault = { account_id: string; position: bigint; fault: string }
export type AuditReport = { accounts: number; entries: number; faults: AuditFault[] }

const PAGE = 1_000

/**
 * Checks every account's chain from its first entry to its head. Entries that are added during the
 * check come after the head that was read, so they are not checked.
 */
export async function verifyAudit(
  db: Database,
  onProgress: (entries: number) => void = () => undefined,
): Promise<AuditReport> {
  const report: AuditReport = { accounts: 0, entries: 0, faults: await findMissingHeads(db) }
  let after = ''
  for (;;) {
    const heads = await db.rows<Head>(
      `select account_id, audit_count, audit_hash from account_sequences
        where account_id > $1 order by account_id limit ${PAGE}`,
      [after],
    )
    for (const head of heads) {
      report.accounts += 1
      const start = { position: 0n, hash: genesisHash(head.account_id) }
      report.entries += await verifyChain(db, head, { start, faults: report.faults })
      onProgress(report.entries)
    }
    const last = heads.at(-1)
    if (last === undefined) return report
    after = last.account_id
  }
}

/** An account and its sequence row are inserted in one transaction, so none is missing. */
async function findMissingHeads(db: Database): Promise<AuditFault[]> {
  const accounts = await db.rows<{ id: string }>(
    `select id from accounts a
      where not exists (select from account_sequences h where h.account_id = a.id)`,
  )
  return accounts.map(({ id }) => ({
    account_id: id,
    position: 0n,
    fault: 'its sequence row is missing',
  }))
}

/** One statement reads the head and the entries, so both include a concurrent append or neither. */
async function hasEntriesOutsideChain(db: Reader, account_id: string): Promise<boolean> {
  const outside = await db.rows(
    `select 1 from audit_entries e join account_sequences h using (account_id)
      where account_id = $1 and (e.position < 1 or e.position > h.audit_count) limit 1`,
    [account_id],
  )
  return outside.length > 0
}

type Reader = Pick<Database, 'rows'>

type Head = { account_id: string; audit_count: bigint; audit_hash: string }

type ChainCheck = { start: { position: bigint; hash: string }; faults: AuditFault[] }

/** Verifies the entries after `start`, up to the head; returns the position of the last one. */
export async function verifyChain(
  db: Reader,
  head: Head,
  { start, faults }: ChainCheck,
): Promise<number> {
  let { hash, position } = start
  const report = (fault: string) => faults.push({ account_id: head.account_id, position, fault })
  for (;;) {
    const rows = await db.rows<AuditRow>(
      `select * from audit_entries
        where account_id = $1 and position > $2 and position <= $3
        order by position limit ${PAGE}`,
      [head.account_id, position, head.audit_count],
    )
    for (const { hash: recorded, ...entry } of rows) {
      if (entry.position !== position + 1n) report('an entry is missing after this one')
      position = entry.position
      if (entry.prev_hash !== hash) report('it does not follow the previous entry')
      if (auditHash(entry) !== recorded) report('its content was changed')
      hash = recorded
    }
    if (rows.length < PAGE) break
  }
  if (position !== head.audit_count || hash !== head.audit_hash)
    report('the chain does not reach its head')
  if (await hasEntriesOutsideChain(db, head.account_id))
    report('there is an entry outside the chain')
  return Number(position)
}
