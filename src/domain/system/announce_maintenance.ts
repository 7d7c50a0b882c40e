import { emitAsSystem } from '#domain/audit/emit_as_system.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { formatDay, formatTimestamp } from '#kernel/timestamp.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'
import {
  findAccountsToNotify,
  hasUnannounced,
  insertMaintenance,
  lockUnannounced,
  type MaintenanceRow,
  maintenanceView,
  markAnnounced,
  type NewMaintenance,
} from './maintenance_store.ts'

/** get_system_health shows it immediately; the task below emits an event in every account. */
export function announceMaintenance(tx: Tx, planned: NewMaintenance, now: Date): Promise<void> {
  return insertMaintenance(tx, planned, now)
}

/** Accounts per transaction. Few, because each one is locked until the commit. */
const BATCH_SIZE = 20

type AnnouncementDependencies = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  settings: Settings
}

/** Goes through the accounts in id order and stores its position after each batch. */
export function announceMaintenanceTask(dependencies: AnnouncementDependencies): Task {
  return {
    name: 'announce_maintenance',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: async () => {
      if (!(await hasUnannounced(dependencies.db))) return
      while (await announceToBatch(dependencies));
    },
  }
}

function announceToBatch(dependencies: AnnouncementDependencies): Promise<boolean> {
  const { db, clock } = dependencies
  return db.transaction(async (tx) => {
    const maintenance = await lockUnannounced(tx)
    if (maintenance === undefined) return false
    const accounts = await findAccountsToNotify(tx, maintenance, BATCH_SIZE)
    const events = [maintenanceEvent(maintenance)]
    for (const account_id of accounts) await emitAsSystem(tx, dependencies, account_id, { events })
    await markAnnounced(tx, maintenance.id, {
      notified_up_to: accounts.at(-1) ?? maintenance.notified_up_to,
      notified_at: accounts.length < BATCH_SIZE ? clock.now() : null,
    })
    return true
  })
}

/** The day once: "on Nov 16, 2026, 01:00–02:00 UTC". */
function periodText({ starts_at, ends_at }: MaintenanceRow): string {
  const ends = formatTimestamp(ends_at)
  if (formatDay(starts_at) !== formatDay(ends_at)) {
    return `from ${formatTimestamp(starts_at)} to ${ends}`
  }
  return `on ${formatTimestamp(starts_at).replace(' UTC', '')}–${ends.slice(-'00:00 UTC'.length)}`
}

function maintenanceEvent(maintenance: MaintenanceRow): NewEvent {
  return {
    type: 'system.maintenance',
    message: `Scheduled maintenance ${periodText(maintenance)}: ${maintenance.message}`,
    severity: 'warning',
    resource: { type: 'maintenance', id: maintenance.id.toString() },
    object: maintenanceView(maintenance),
  }
}
