import type { Database } from '#platform/postgres/db.ts'
import type { Keys } from './keys.ts'

/** A column of secrets, sealed for a purpose and under the id of their row. */
export type SealedColumn = { table: string; column: string; purpose: string }

/** Declared by the room that owns the table: resealing writes to it. */
export const sealedColumn = (table: string, column: string, purpose: string): SealedColumn => ({
  table,
  column,
  purpose,
})

const BATCH_MAX = 500

/** Brings the column under the current key and returns the number of rows that were not. */
export async function resealColumn(
  { db, keys }: { db: Database; keys: Keys },
  { table, column, purpose }: SealedColumn,
): Promise<number> {
  let found = 0
  for (;;) {
    const rows = await db.rows<{ id: string; sealed: string }>(
      `select id, ${column} as sealed from ${table}
        where not starts_with(${column}, $1) order by id limit ${BATCH_MAX}`,
      [keys.sealedPrefix()],
    )
    // A secret that has been replaced since is left alone: it is under the current key.
    await db.run(
      `update ${table} t set ${column} = w.resealed
         from unnest($1::text[], $2::text[], $3::text[]) as w (id, sealed, resealed)
        where t.id = w.id and t.${column} = w.sealed`,
      [
        rows.map(({ id }) => id),
        rows.map(({ sealed }) => sealed),
        rows.map(({ id, sealed }) => keys.seal(purpose, id, keys.open(purpose, id, sealed))),
      ],
    )
    found += rows.length
    if (rows.length < BATCH_MAX) return found
  }
}
