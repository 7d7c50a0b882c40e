import type { Database } from '#platform/postgres/db.ts'

export type TableSize = {
  name: string
  /** With its indexes. */
  mb: number
  rows: number
  dead_rows: number
  autovacuums: number
}

const SHOWN = 16

/** The largest tables as PostgreSQL's statistics see them. */
export async function tablesOf(db: Database): Promise<TableSize[]> {
  const rows = await db.rows<Record<keyof TableSize, string>>(
    `select relname as name, (pg_total_relation_size(relid) / 1048576.0)::text as mb,
            n_live_tup::text as rows, n_dead_tup::text as dead_rows,
            autovacuum_count::text as autovacuums
       from pg_stat_user_tables
      where relname not like 'pgbench%'
      order by pg_total_relation_size(relid) desc
      limit ${SHOWN}`,
  )
  return rows.map(({ name, ...figures }) => ({
    name,
    mb: Number(figures.mb),
    rows: Number(figures.rows),
    dead_rows: Number(figures.dead_rows),
    autovacuums: Number(figures.autovacuums),
  }))
}
