import { network_payments_sql } from '#domain/ledger/movement_sql.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { quoted } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'

/** The tables that are archived, with the prefix of their IDs. */
export const ARCHIVED_TABLES = { movements: 'bal', transactions: 'txn' } as const

export type ArchivedTable = keyof typeof ARCHIVED_TABLES
export const archived_tables = Object.keys(ARCHIVED_TABLES) as ArchivedTable[]

/** The tables that hold the rows of each archived table: partitions, or former ones. */
export type RowTables = Record<ArchivedTable, string[]>

export type LeavingMonths = {
  /** IDs without prefix: rows from here, and up to the next floor without it. */
  from: string
  floor: string
  since: Date
  tables: RowTables
}

export type ArchiveRow = { floor: string; sha256: string | null }

/** The months that are old enough in both tables; null if there are none. */
export async function findLeaving(tx: Tx, before: Date): Promise<LeavingMonths | null> {
  const [bound] = await tx.rows<{ from: string; floor: string | null; since: Date }>(
    `select f.floor as from, b.floor, id_month('bal_' || b.floor) at time zone 'UTC' as since
       from history_floors f
      cross join lateral (
              select max(upper collate "C") as floor
                from (select split_part(upper_id, '_', 2) as upper from partitions_of('movements')
                      intersect
                      select split_part(upper_id, '_', 2) from partitions_of('transactions')) bounds
               where upper <= id_time($1) collate "C" and upper > f.floor) b
      where f.history = 'money'`,
    [before],
  )
  if (bound === undefined || bound.floor === null) return null
  const { from, floor, since } = bound
  const tables: RowTables = { movements: [], transactions: [] }
  for (const table of archived_tables) {
    tables[table] = await partitionsBefore(tx, table, floor)
  }
  return { from, floor, since, tables }
}

async function partitionsBefore(tx: Tx, table: ArchivedTable, floor: string): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>(
    `select c.relname as name from partitions_of($1) p join pg_class c on c.oid = p.partition
      where p.upper_id <= $2 collate "C" order by p.upper_id collate "C"`,
    [table, `${ARCHIVED_TABLES[table]}_${floor}`],
  )
  return rows.map(({ name }) => name)
}

/** An archive that was interrupted after its months were detached. */
export async function findInterrupted(tx: Tx): Promise<LeavingMonths | null> {
  const [row] = await tx.rows<{
    from: string
    floor: string
    since: Date
    tables: RowTables
  }>(
    `select a.floor, a.detached as tables, id_month('bal_' || a.floor) at time zone 'UTC' as since,
            coalesce((select max(e.floor) from archives e where e.floor < a.floor), '') as from
       from archives a where a.state = 'leaving'`,
  )
  return row ?? null
}

/** The archive before this one, whose manifest it names. */
export async function findPrevious(tx: Tx, floor: string): Promise<ArchiveRow | null> {
  const [row] = await tx.rows<ArchiveRow>(
    'select floor, sha256 from archives where floor < $1 order by floor desc limit 1',
    [floor],
  )
  return row ?? null
}

/** A purchase that is not finished stays where messages and operators find it. */
export async function requireFinished(tx: Tx, { floor }: LeavingMonths): Promise<void> {
  const [open] = await tx.rows<{ purchases: number; disputes: number }>(
    `select (select count(*)::integer from transactions where id < $1 and open_micros > 0)
              as purchases,
            (select count(*)::integer from disputes
              where transaction_id < $1 collate "C" and status <> 'closed') as disputes`,
    [`txn_${floor}`],
  )
  const { purchases = 0, disputes = 0 } = open ?? {}
  if (purchases + disputes === 0) return
  throw new ConfigError(
    `${purchases} authorizations and ${disputes} disputes of these months are still open. They ` +
      'must end before the months can be archived.',
  )
}

/** Detaches the months and stores their sums, in the caller's transaction. */
export async function detachMonths(tx: Tx, leaving: LeavingMonths): Promise<RowTables> {
  const { floor, since, tables } = leaving
  for (const name of tables.movements) await carrySums(tx, name)
  await carryNetworks(tx, floor)
  const detached: RowTables = { movements: [], transactions: [] }
  for (const table of archived_tables) {
    for (const name of tables[table]) {
      const next = `${name}_leaving`
      await tx.run(`alter table ${table} detach partition ${quoted(name)}`)
      await tx.run(`alter table ${quoted(name)} rename to ${quoted(next)}`)
      detached[table].push(next)
    }
    // A node whose clock is far behind can still write.
    await tx.run(
      `call create_partition($1, 'first', format('from (minvalue) to (%L)', $2::text), $3)`,
      [
        table,
        `${ARCHIVED_TABLES[table]}_${floor}`,
        table === 'transactions' ? 'with (fillfactor = 80)' : '',
      ],
    )
  }
  await tx.run(`insert into archives (floor, state, detached) values ($1, 'leaving', $2)`, [
    floor,
    JSON.stringify(detached),
  ])
  await tx.run(`update history_floors set floor = $1, since = $2 where history = 'money'`, [
    floor,
    since,
  ])
  return detached
}

/** The proofs of balances begin with these sums, as if they had read the rows. */
async function carrySums(tx: Tx, partition: string): Promise<void> {
  await tx.run(
    `insert into archived_sums as a (account_id, kind, owner_id, amount_micros)
     select account_id, kind, owner_id, sum(micros)
       from ${quoted(partition)}
      cross join lateral (values (from_kind, from_owner_id, -amount_micros),
                                 (to_kind, to_owner_id, amount_micros)) e (kind, owner_id, micros)
      group by 1, 2, 3
         on conflict (account_id, kind, owner_id) do update
        set amount_micros = a.amount_micros + excluded.amount_micros`,
  )
}

/** Movements of a transaction may be in a later month: they count here and no longer there. */
async function carryNetworks(tx: Tx, floor: string): Promise<void> {
  await tx.run(
    `insert into archived_networks as a (network, ledger_micros, transactions_micros)
     select network, coalesce(l.micros, 0), coalesce(s.micros, 0)
       from (select t.network, sum(m.paid_micros) as micros
               from (${network_payments_sql}) m
               join transactions t on t.account_id = m.account_id and t.id = m.reference_id
              where t.id < 'txn_' || $1 or m.id < 'bal_' || $1
              group by 1) l
       full join (select network, sum(case when type = 'capture' then amount_micros
                                           when type = 'refund' and status = 'settled'
                                             then -amount_micros else 0 end) as micros
                    from transactions where id < 'txn_' || $1 group by 1) s using (network)
         on conflict (network) do update
        set ledger_micros = a.ledger_micros + excluded.ledger_micros,
            transactions_micros = a.transactions_micros + excluded.transactions_micros`,
    [floor],
  )
}

/** Drops the detached tables; from here on only the files have their rows. */
export async function dropDetached(
  tx: Tx,
  { floor, tables }: LeavingMonths,
  { sha256, now }: { sha256: string; now: Date },
): Promise<void> {
  for (const name of archived_tables.flatMap((table) => tables[table])) {
    await tx.run(`drop table ${quoted(name)}`)
  }
  await tx.run(
    `update archives set state = 'archived', detached = '{}', sha256 = $2, archived_at = $3
      where floor = $1`,
    [floor, sha256, now],
  )
}
