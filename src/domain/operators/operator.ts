import type { Context, Dependencies, RequestContext, Trail } from '#domain/context/context.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'

/** From who may only look to who may do everything; each may do what those before it may. */
export const operator_roles = ['viewer', 'support', 'risk', 'admin'] as const
export type OperatorRole = (typeof operator_roles)[number]

/** Somebody who runs the programme. */
export type Operator = { id: string; name: string; role: OperatorRole }

export function mayAct({ role }: Operator, needed: OperatorRole): boolean {
  return operator_roles.indexOf(role) >= operator_roles.indexOf(needed)
}

/**
 * What an act of an operator is done with. It has no account of its own: each act names the one it
 * concerns, and tells that account's audit log.
 */
export type OperatorContext = Trail &
  Pick<Dependencies, 'settings' | 'clock' | 'keys' | 'probes' | 'screener'> &
  Pick<Context, 'credentialsChanged'> & {
    tx: Tx
    /** For what talks to the outside, which no transaction may wait for. */
    db: Database
    operator: Operator
    request: RequestContext
    now: Date
    newId(prefix: IdPrefix, at?: Date): string
  }
