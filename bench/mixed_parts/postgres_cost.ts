import { readdir, readFile } from 'node:fs/promises'
import type { Database } from '#platform/postgres/db.ts'

const TICK_US = 10_000
/** Fields of /proc/PID/stat, counted from the state. */
const PARENT = 1
const UTIME = 11
const STIME = 12
const CSTIME = 14

/** CPU time of a PostgreSQL server and its processes; null where /proc is missing. */
export async function postgresCpuUs(server_pid: number): Promise<number | null> {
  const entries = await readdir('/proc').catch(() => null)
  if (entries === null) return null
  let ticks = 0
  for (const pid of entries.filter((name) => /^\d+$/.test(name))) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = fieldsAfterName(text).map(Number)
    const sum = (from: number, to: number) =>
      fields.slice(from, to).reduce((total, field) => total + field, 0)
    // User and system time; of the server also those of its processes that have ended.
    if (Number(pid) === server_pid) ticks += sum(UTIME, CSTIME + 1)
    else if (fields[PARENT] === server_pid) ticks += sum(UTIME, STIME + 1)
  }
  return ticks * TICK_US
}

/** From the state on; the name before it may have spaces. */
const fieldsAfterName = (text: string): string[] => text.slice(text.lastIndexOf(')') + 2).split(' ')

export type WrittenVolume = { wal_bytes: number; rows: number }

/** What the server has written since it started. */
export async function writtenBy(db: Database): Promise<WrittenVolume> {
  const [row] = await db.rows<{ wal: string; changed: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as wal,
            (select (tup_inserted + tup_updated + tup_deleted)::text
               from pg_stat_database where datname = current_database()) as changed`,
  )
  return { wal_bytes: Number(row?.wal ?? 0), rows: Number(row?.changed ?? 0) }
}
