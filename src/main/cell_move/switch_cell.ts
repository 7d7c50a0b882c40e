import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import {
  announceSwitch,
  type CellMove,
  endSwitch,
  notifyNodes,
  saveCellMove,
  touchCellMove,
} from '#domain/directory/cell_move_store.ts'
import { applicationName, tagOf } from '#platform/postgres/connected_nodes.ts'
import type { Session } from '#platform/postgres/session.ts'
import { literal, lockTables, quoted } from '#platform/postgres/whole_tables.ts'
import { compareTables, type TableLists } from './compare_tables.ts'
import { setReadOnly } from './servers.ts'
import { slotOf } from './source.ts'
import { SwitchDeadline } from './switch_deadline.ts'
import { disableSubscription } from './target.ts'

/** Calls in flight end by themselves within this time; then their connections are ended. */
const IN_FLIGHT_MS = 200
const POLL_MS = 10
/** Nodes that have not noticed the switch by then are found by their connections. */
const NOTICE_MS = 200

export type SwitchInput = {
  /** A connection of its own: its locks end with it. */
  lock: Session
  source: Session
  target: Session
  tables: TableLists
  /** Written to the old database, and to the new one. */
  moved: CellMove
  arrived: CellMove
  /** Called while both copies are equal. */
  onEqual(): Promise<void>
}

/**
 * Makes the copy the cell's database. Everything before the commit on the old server can be undone
 * by ending the connection: that is what happens if this process dies, and if it takes too long.
 */
export async function switchCell(input: SwitchInput): Promise<{ paused_ms: number; rows: number }> {
  const { lock, source, target } = input
  const deadline = new SwitchDeadline([lock, source, target])
  try {
    const rows = await prepareSwitch(input, deadline)
    await deadline.liftForCommit(lock)
    await lock.run('commit')
    await endSwitch(lock)
    const paused_ms = deadline.elapsedMs()
    await deadline.lift()
    await wait(NOTICE_MS)
    await endConnections(source)
    return { paused_ms, rows }
  } catch (cause) {
    await deadline.lift().catch(() => undefined)
    throw cause
  }
}

async function prepareSwitch(input: SwitchInput, deadline: SwitchDeadline): Promise<number> {
  const { lock, source, target, arrived, moved } = input
  await deadline.run('stopping all writes', () => stopWrites(input))
  await deadline.run('waiting for the new server', () => catchUp(source, deadline))
  await deadline.run('copying sequences', () => copySequences(source, target))
  const rows = await deadline.run('comparing both copies', () => requireEqual(input))
  await input.onEqual()
  await deadline.run('opening the new server', () => openTarget(target, arrived))
  await deadline.run('closing the old server', () => closeSource(lock, moved))
  deadline.check()
  return rows
}

/** Reads go on. A transaction that holds up the lock is ended; nodes repeat or refuse its work. */
async function stopWrites({ lock, source, tables }: SwitchInput): Promise<void> {
  await announceSwitch(lock)
  await lock.run('begin')
  const [row] = await lock.rows<{ pid: number }>('select pg_backend_pid() as pid')
  await waitForTransactions(source)
  let isLocked = false
  const locked = lockTables(lock, [...tables.small, ...tables.large]).finally(() => {
    isLocked = true
  })
  locked.catch(() => undefined)
  for (;;) {
    await Promise.race([locked, wait(POLL_MS)])
    if (isLocked) return void (await locked)
    await source.rows(
      'select pg_terminate_backend(pid) from unnest(pg_blocking_pids($1)) as blocking (pid)',
      [row?.pid],
    )
  }
}

/** SQL: connections to this cell, except those of this process. */
const CELL_CLIENTS = `from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend'
    and application_name <> $1 and position($2 in application_name) > 0`

/** A schema's connections are known by their names; other cells use the same database. */
const clientsOf = ({ schema }: Session): [string, string] => [
  applicationName(schema),
  schema === null ? '' : tagOf(schema),
]

async function waitForTransactions(source: Session): Promise<void> {
  const until_ms = performance.now() + IN_FLIGHT_MS
  while (performance.now() < until_ms) {
    const open = await source.rows(
      `select ${CELL_CLIENTS} and xact_start is not null`,
      clientsOf(source),
    )
    if (open.length === 0) return
    await wait(POLL_MS)
  }
}

/** Writing the row flushes the log up to it, so nothing committed is behind the awaited place. */
async function catchUp(source: Session, deadline: SwitchDeadline): Promise<void> {
  await touchCellMove(source)
  const slot_name = await slotOf(source)
  const [row] = await source.rows<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn')
  for (;;) {
    const [slot] = await source.rows<{ is_there: boolean }>(
      `select confirmed_flush_lsn >= $1::pg_lsn as is_there from pg_replication_slots
        where slot_name = $2`,
      [row?.lsn, slot_name],
    )
    if (slot?.is_there === true) return
    deadline.check()
    await wait(POLL_MS)
  }
}

/** Replication copies rows only. */
async function copySequences(source: Session, target: Session): Promise<void> {
  const names = await source.rows<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'S'`,
  )
  const reads = names.map(
    ({ name }) =>
      `select ${literal(name)} as name, last_value::text, is_called from ${quoted(name)}`,
  )
  const values = await source.rows<{ name: string; last_value: string; is_called: boolean }>(
    reads.join('\nunion all\n'),
  )
  const writes = values.map(
    ({ name, last_value, is_called }) =>
      `setval(${literal(quoted(name))}, ${last_value}, ${is_called})`,
  )
  await target.rows(`select ${writes.join(', ')}`)
}

async function requireEqual({ source, target, tables }: SwitchInput): Promise<number> {
  const { rows, differences } = await compareTables(source, target, tables.small)
  if (differences.length === 0) return rows
  throw new Error(`the copy differs (${differences.join('; ')})`)
}

/** From here on the copy may be written to, but no node knows its address yet. */
async function openTarget(target: Session, arrived: CellMove): Promise<void> {
  await disableSubscription(target)
  await saveCellMove(target, arrived)
  await setReadOnly(target, false)
}

/** The old database itself refuses writes, whatever a node believes. */
async function closeSource(lock: Session, moved: CellMove): Promise<void> {
  await saveCellMove(lock, moved)
  await lock.run('call close_moved_database()')
  await notifyNodes(lock)
}

/** A node whose connections end looks for the new address when it connects again. */
async function endConnections(source: Session): Promise<void> {
  await source.rows(`select pg_terminate_backend(pid, 5000) ${CELL_CLIENTS}`, clientsOf(source))
}
