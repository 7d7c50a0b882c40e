import { fieldProblem } from '#contract/common_problems.ts'
import type { Maintenance } from '#contract/system.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { announceMaintenance } from './announce_maintenance.ts'
import { maintenanceView } from './maintenance_store.ts'

type MaintenanceInput = {
  starts_at: string
  ends_at: string
  message: string
  components?: string[]
}

const ALL_COMPONENTS = ['issuer', 'rails', 'network']

export async function planMaintenance(
  tx: Tx,
  input: MaintenanceInput,
  now: Date,
): Promise<Maintenance> {
  const maintenance = {
    starts_at: new Date(input.starts_at),
    ends_at: new Date(input.ends_at),
    message: input.message,
    components: input.components ?? ALL_COMPONENTS,
  }
  if (maintenance.ends_at <= maintenance.starts_at || maintenance.ends_at <= now) {
    const message = 'must be after starts_at and in the future'
    throw fieldProblem('invalid_request', 'ends_at', message)
  }
  await announceMaintenance(tx, maintenance, now)
  return maintenanceView(maintenance)
}
