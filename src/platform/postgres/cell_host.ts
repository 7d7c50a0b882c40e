import type pg from 'pg'
import { DatabaseUnavailable } from './database_faults.ts'
import { literal } from './whole_tables.ts'

/** A server that may be used for a cell: a primary, and on Citus the one with the cell's rows. */
export type CellHost = {
  /** An old primary that came back has a lower one. */
  timeline: string
  /** The server and its standbys, which have common timelines. Empty: all listed hosts are one. */
  cluster: string
}

const SELECT_TIMELINE = `select case when pg_is_in_recovery() then null
    else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline,
  to_regclass('pg_catalog.pg_dist_schema') is not null as is_citus`

/** Every worker of Citus knows where each distributed schema is. */
const selectHome = (schema: string) => `select system_identifier::text as cluster,
    not exists (select from pg_dist_schema where schemaid = to_regnamespace(${literal(schema)}))
    or exists (select from pg_dist_schema
                 join pg_dist_partition using (colocationid)
                 join pg_dist_shard using (logicalrelid)
                 join pg_dist_placement using (shardid)
                where schemaid = to_regnamespace(${literal(schema)})
                  and groupid = (select groupid from pg_dist_local_group)) as is_home
  from pg_control_system()`

export type HostQuestion = { schema: string | null; timeout_ms: number }

/** Throws if the host is a standby, or doesn't have the schema. */
export async function readCellHost(
  client: pg.Client,
  { schema, timeout_ms }: HostQuestion,
): Promise<CellHost> {
  const ask = async <Row extends object>(text: string) => {
    const query = { text, query_timeout: timeout_ms } as pg.QueryConfig
    return (await client.query<Row>(query)).rows[0]
  }
  type Primary = { timeline: string | null; is_citus?: boolean }
  const { timeline = null, is_citus = false } = (await ask<Primary>(SELECT_TIMELINE)) ?? {}
  if (timeline === null) throw new DatabaseUnavailable('that host is a standby')
  if (!is_citus || schema === null) return { timeline, cluster: '' }
  const home = await ask<{ cluster: string; is_home: boolean }>(selectHome(schema))
  if (home?.is_home !== true) {
    throw new DatabaseUnavailable(`that host does not have the schema ${schema}`)
  }
  return { timeline, cluster: home.cluster }
}
