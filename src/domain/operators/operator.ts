import type {
  OperatorInput,
  OperatorOperationName,
  OperatorOutput,
} from '#contract/operator/operations.ts'
import { type OperatorRole, operator_roles } from '#contract/operator/roles.ts'
import type { Context, PreparingContext } from '#domain/context/context.ts'
import type { Database } from '#platform/postgres/db.ts'

/** A person or service that runs the program. */
export type Operator = { id: string; name: string; role: OperatorRole }

export function hasRole({ role }: Operator, needed: OperatorRole): boolean {
  return operator_roles.indexOf(role) >= operator_roles.indexOf(needed)
}

/** An operator has no account: each action audits the account it concerns. */
export type OperatorContext = Context<null> & { operator: Operator }

/** Before the transaction, for work outside the database. */
export type OperatorPreparing = Omit<PreparingContext<null>, 'db'> & {
  operator: Operator
  db: Database
}

/** Runs inside the transaction of the call. */
export type OperatorHandler<Name extends OperatorOperationName> = (
  context: OperatorContext,
  input: OperatorInput<Name>,
) => Promise<OperatorOutput<Name>>

/** Prepares outside the transaction and returns the handler. */
export type PreparedOperatorHandler<Name extends OperatorOperationName> = {
  prepare(context: OperatorPreparing, input: OperatorInput<Name>): Promise<OperatorHandler<Name>>
}
