import { fieldProblem } from '#contract/common_problems.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { announceMaintenance } from './announce_maintenance.ts'
import { maintenanceView } from './maintenance_store.ts'

const ALL_COMPONENTS = ['issuer', 'rails', 'network']

/** An announcement can't be taken back, and a wrong year would show it to everyone until then. */
const LENGTH_MAX_DAYS = 30
const DAY_MS = 86_400_000

const wrongEnd = (message: string) => fieldProblem('invalid_request', 'ends_at', message)

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
    throw wrongEnd('must be in the future and after the start')
  }
  const length_ms = maintenance.ends_at.getTime() - maintenance.starts_at.getTime()
  if (length_ms > LENGTH_MAX_DAYS * DAY_MS) {
    throw wrongEnd(`must be at most ${LENGTH_MAX_DAYS} days after the start`)
  }
  await announceMaintenance(tx, maintenance, now)
  return maintenanceView(maintenance)
}
