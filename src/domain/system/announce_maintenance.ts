import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
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

/** Shown by get_system_health at once; the task below tells every account of it. */
export function announceMaintenance(tx: Tx, given: NewMaintenance, now: Date): Promise<void> {
  return insertMaintenance(tx, given, now)
}

/** Accounts per transaction: each is locked until its end, and none of them may wait long. */
const BATCH = 20

type Tools = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings'>

/** Goes through the accounts in the order of their ids; where it stopped is where it goes on. */
export function announceMaintenanceTask(tools: Tools): Task {
  return {
    name: 'announce_maintenance',
    every_ms: 1_000,
    idle_ms: 5_000,
    run: async () => {
      if (!(await hasUnannounced(tools.db))) return
      while (await announceToBatch(tools));
    },
  }
}

function announceToBatch({ db, clock, newId, settings }: Tools): Promise<boolean> {
  const stamp = () => {
    const created_at = clock.now()
    return { id: newId('evt', created_at), created_at }
  }
  const event_metadata = { livemode: settings.mode === 'live', request: null, stamp }
  return db.transaction(async (tx) => {
    const maintenance = await lockUnannounced(tx)
    if (maintenance === undefined) return false
    const accounts = await findAccountsToNotify(tx, maintenance, BATCH)
    const event = maintenanceEvent(maintenance)
    for (const account_id of accounts) await recordEvents(tx, account_id, [event], event_metadata)
    await markAnnounced(tx, maintenance.id, {
      told_up_to: accounts.at(-1) ?? maintenance.told_up_to,
      told_at: accounts.length < BATCH ? clock.now() : null,
    })
    return true
  })
}

function maintenanceEvent(maintenance: MaintenanceRow): NewEvent {
  const { starts_at, ends_at, message } = maintenanceView(maintenance)
  return {
    type: 'system.maintenance',
    message: `Scheduled maintenance from ${starts_at} to ${ends_at}: ${message}`,
    severity: 'warning',
    resource: { type: 'maintenance', id: maintenance.id.toString() },
    object: maintenanceView(maintenance),
  }
}
