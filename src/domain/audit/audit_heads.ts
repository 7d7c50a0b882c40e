import type { Database } from '#platform/postgres/db.ts'
import type { AuditFault } from './verify_audit.ts'

/**
 * The last entry of a chain at some time. Heads stored outside the database reveal a chain that was
 * rewritten from its beginning, which the chain itself can't.
 */
export type AuditHead = { account_id: string; position: bigint; hash: string }

const PAGE = 1_000

export async function* readAuditHeads(db: Database): AsyncGenerator<AuditHead> {
  let after = ''
  for (;;) {
    const heads = await db.rows<AuditHead>(
      `select account_id, audit_count as position, audit_hash as hash from account_sequences
        where account_id > $1 order by account_id limit ${PAGE}`,
      [after],
    )
    yield* heads
    const last = heads.at(-1)
    if (last === undefined) return
    after = last.account_id
  }
}

/** Reports stored heads whose entry is missing or has another hash. */
export async function changedHeads(
  db: Database,
  earlier: readonly AuditHead[],
): Promise<AuditFault[]> {
  const faults: AuditFault[] = []
  for (let at = 0; at < earlier.length; at += PAGE) {
    const heads = earlier.slice(at, at + PAGE)
    const changed = await db.rows<{ account_id: string; position: bigint }>(
      `select h.account_id, h.position
         from unnest($1::text[], $2::bigint[], $3::text[]) h (account_id, position, hash)
         left join audit_entries e on e.account_id = h.account_id and e.position = h.position
        where h.position > 0 and e.hash is distinct from h.hash
        order by h.account_id`,
      [
        heads.map(({ account_id }) => account_id),
        heads.map(({ position }) => position),
        heads.map(({ hash }) => hash),
      ],
    )
    for (const entry of changed) {
      faults.push({ ...entry, fault: 'it differs from the saved heads' })
    }
  }
  return faults
}
