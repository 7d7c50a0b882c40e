import type { Maintenance } from '#contract/system.ts'
import type { Tx } from '#platform/postgres/db.ts'

export type NewMaintenance = {
  starts_at: Date
  ends_at: Date
  message: string
  components: readonly string[]
}

export type MaintenanceRow = {
  id: bigint
  starts_at: Date
  ends_at: Date
  message: string
  components: string[]
  announced_at: Date
  told_up_to: string
}

const COLUMNS = 'id, starts_at, ends_at, message, components, announced_at, told_up_to'

export function maintenanceView(row: NewMaintenance): Maintenance {
  return {
    starts_at: row.starts_at.toISOString(),
    ends_at: row.ends_at.toISOString(),
    message: row.message,
    components: [...row.components],
  }
}

export async function insertMaintenance(tx: Tx, given: NewMaintenance, now: Date): Promise<void> {
  await tx.run(
    `insert into maintenances (starts_at, ends_at, message, components, announced_at)
     values ($1, $2, $3, $4, $5)`,
    [given.starts_at, given.ends_at, given.message, [...given.components], now],
  )
}

/** What is planned or under way, soonest first. */
export function maintenancesAhead(tx: Tx, now: Date): Promise<MaintenanceRow[]> {
  return tx.rows<MaintenanceRow>(
    `select ${COLUMNS} from maintenances where ends_at > $1 order by starts_at, id limit 100`,
    [now],
  )
}

/** The oldest that not everybody has been told of; one that another node is at is passed over. */
export async function hasUnannounced(tx: Tx): Promise<boolean> {
  return (await tx.rows('select from maintenances where told_at is null limit 1')).length > 0
}

export async function lockUnannounced(tx: Tx): Promise<MaintenanceRow | undefined> {
  const [row] = await tx.rows<MaintenanceRow>(
    `select ${COLUMNS} from maintenances where told_at is null order by id limit 1
        for update skip locked`,
  )
  return row
}

/** The next accounts to tell, among those there were when it was announced. */
export async function findAccountsToNotify(
  tx: Tx,
  { told_up_to, announced_at }: MaintenanceRow,
  limit: number,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select id from accounts where id > $1 and created_at <= $2 order by id limit $3',
    [told_up_to, announced_at, limit],
  )
  return rows.map(({ id }) => id)
}

export async function markAnnounced(
  tx: Tx,
  id: bigint,
  progress: { told_up_to: string; told_at: Date | null },
): Promise<void> {
  await tx.run('update maintenances set told_up_to = $2, told_at = $3 where id = $1', [
    id,
    progress.told_up_to,
    progress.told_at,
  ])
}
