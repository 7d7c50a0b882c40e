import type { Operation, OperatorAccess } from '#contract/operation.ts'
import type { OperatorRole } from './roles.ts'

/** An operation of the operator API: its route, role check, OpenAPI entry and CLI command. */
export type OperatorOperation = Operation & {
  access: OperatorAccess
  /** True for reads that show no customer data. Every other read is recorded like a write. */
  shows_no_customer?: true
}

type OperatorDeclaration = Omit<OperatorOperation, 'status' | 'access'> & { role: OperatorRole }

/** Keeps the literal types, so handlers can derive their input and output types. */
export const operatorOperation = <const Shape extends OperatorDeclaration>({
  role,
  ...shape
}: Shape) => ({
  ...shape,
  status: 200 as const,
  access: { operator: role },
})
