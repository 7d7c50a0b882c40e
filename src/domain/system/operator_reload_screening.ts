import { Problem } from '#contract/problem.ts'
import type { PreparedOperatorHandler } from '#domain/operators/operator.ts'
import { ScreeningUnavailable } from '#rails/screening/screening.ts'

/** Without a configured list there is nothing to reload. */
const NO_LIST = { source: 'none', list_version: '' }

export const operatorReloadScreening: PreparedOperatorHandler<'operator_reload_screening'> = {
  prepare: async ({ screener }) => {
    const reloaded = screener.reload === undefined ? NO_LIST : await screener.reload().catch(refuse)
    return async () => reloaded
  },
}

/** Only operators learn which file it is. */
function refuse(cause: unknown): never {
  if (!(cause instanceof ScreeningUnavailable)) throw cause
  const message = `${cause.message} Until it can, deposits wait and withdrawals are refused.`
  throw new Problem('service_unavailable', message, { retry_after_s: 60, cause })
}
