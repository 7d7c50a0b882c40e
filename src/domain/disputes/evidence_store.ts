import type { Tx } from '#platform/postgres/db.ts'
import type { DisputeRow } from './dispute.ts'
import type { EvidenceRow } from './evidence.ts'

const COLUMNS = `account_id, dispute_id, id, kind, file_name, content_type, size_bytes, sha256,
  note, created_at`

/** The evidence of these disputes, oldest first. */
export function findEvidence(tx: Tx, disputes: readonly DisputeRow[]): Promise<EvidenceRow[]> {
  return tx.rows<EvidenceRow>(
    `select ${COLUMNS.replaceAll(/(?<=^|\s)(?=\w)/g, 'e.')}
       from evidence e
       join unnest($1::text[], $2::text[]) d (account_id, id)
         on d.account_id = e.account_id and d.id = e.dispute_id
      order by e.id`,
    [disputes.map(({ account_id }) => account_id), disputes.map(({ id }) => id)],
  )
}

/** Bytes of the notes of each dispute. */
export async function measureNotes(
  tx: Tx,
  disputes: readonly DisputeRow[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.rows<{ id: string; bytes: number }>(
    `select e.dispute_id as id, sum(coalesce(octet_length(e.note), 0))::int as bytes
       from evidence e
       join unnest($1::text[], $2::text[]) d (account_id, id)
         on d.account_id = e.account_id and d.id = e.dispute_id
      group by e.dispute_id`,
    [disputes.map(({ account_id }) => account_id), disputes.map(({ id }) => id)],
  )
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

export async function insertEvidence(tx: Tx, piece: EvidenceRow): Promise<void> {
  await tx.run(
    `insert into evidence (account_id, dispute_id, id, kind, file_name, content_type, size_bytes,
                           sha256, note, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      piece.account_id,
      piece.dispute_id,
      piece.id,
      piece.kind,
      piece.file_name,
      piece.content_type,
      piece.size_bytes,
      piece.sha256,
      piece.note,
      piece.created_at,
    ],
  )
}

/** The names that belong to a piece of evidence. */
export async function findRecordedEvidence(tx: Tx, names: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ id: string }>('select id from evidence where id = any($1)', [names])
  return new Set(rows.map(({ id }) => id))
}
