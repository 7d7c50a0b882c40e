import { fieldProblem } from '#contract/common_problems.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { announceMaintenance } from './announce_maintenance.ts'
import { maintenanceView } from './maintenance_store.ts'

const ALL_COMPONENTS = ['issuer', 'rails', 'network']

/** Announced to every account by an event. It must not have ended already. */
export const operatorAnnounceMaintenance: OperatorHandler<'operator_announce_maintenance'> = async (
  { tx, now },
  input,
) => {
  const maintenance = {
    starts_at: new Date(input.starts_at),
    ends_at: new Date(input.ends_at),
    message: input.message,
    components: input.components ?? ALL_COMPONENTS,
  }
  if (maintenance.ends_at <= maintenance.starts_at || maintenance.ends_at <= now) {
    const message = 'must be in the future and after the start'
    throw fieldProblem('invalid_request', 'ends_at', message)
  }
  await announceMaintenance(tx, maintenance, now)
  return maintenanceView(maintenance)
}
