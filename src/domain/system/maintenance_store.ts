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
  notified_up_to: string
}

const COLUMNS = 'id, starts_at, ends_at, message, components, announced_at, notified_up_to'

export function maintenanceView(row: NewMaintenance): Maintenance {
  return {
    starts_at: row.starts_at.toISOString(),
    ends_at: row.ends_at.toISOString(),
    message: row.message,
    components: [...row.components],
  }
}

export async function insertMaintenance(tx: Tx, planned: NewMaintenance, now: Date): Promise<void> {
  await tx.run(
    `insert into maintenances (starts_at, ends_at, message, components, announced_at)
     values ($1, $2, $3, $4, $5)`,
    [planned.starts_at, planned.ends_at, planned.message, [...planned.components], now],
  )
}

/** Scheduled and current maintenance, soonest first. */
export function findCurrentMaintenance(tx: Tx, now: Date): Promise<MaintenanceRow[]> {
  return tx.rows<MaintenanceRow>(
    `select ${COLUMNS} from maintenances where ends_at > $1 order by starts_at, id limit 100`,
    [now],
  )
}

export async function hasUnannounced(tx: Tx): Promise<boolean> {
  return (await tx.rows('select from maintenances where notified_at is null limit 1')).length > 0
}

/** The oldest one that still has accounts to notify and that no other node has locked. */
export async function lockUnannounced(tx: Tx): Promise<MaintenanceRow | undefined> {
  const [row] = await tx.rows<MaintenanceRow>(
    `select ${COLUMNS} from maintenances where notified_at is null order by id limit 1
        for update skip locked`,
  )
  return row
}

/** The next accounts in id order that existed when the maintenance was announced. */
export async function findAccountsToNotify(
  tx: Tx,
  { notified_up_to, announced_at }: MaintenanceRow,
  limit: number,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'select id from accounts where id > $1 and created_at <= $2 order by id limit $3',
    [notified_up_to, announced_at, limit],
  )
  return rows.map(({ id }) => id)
}

export async function markAnnounced(
  tx: Tx,
  id: bigint,
  progress: { notified_up_to: string; notified_at: Date | null },
): Promise<void> {
  await tx.run('update maintenances set notified_up_to = $2, notified_at = $3 where id = $1', [
    id,
    progress.notified_up_to,
    progress.notified_at,
  ])
}
