import type { PreparedOperatorHandler } from '#domain/operators/operator.ts'

/** Without a configured list there is nothing to reload. */
const NO_LIST = { source: 'none', list_version: '' }

export const operatorReloadScreening: PreparedOperatorHandler<'operator_reload_screening'> = {
  prepare: async ({ screener }) => {
    const reloaded = screener.reload === undefined ? NO_LIST : await screener.reload()
    return async () => reloaded
  },
}
