import type { PreparedOperatorHandler } from '#domain/operators/operator.ts'
import { reconcile } from './reconciliation.ts'

/** Asks chain nodes, so it runs outside a transaction. */
export const operatorGetReconciliation: PreparedOperatorHandler<'operator_get_reconciliation'> = {
  prepare: async ({ db, settings, now, cellDatabases }) => {
    const compared = await reconcile({ db, settings, custody_dbs: cellDatabases() }, now)
    return async () => compared
  },
}
