import type { OperationName, OutputOfName } from '#contract/operations.ts'
import { operations } from '#contract/operations.ts'
import {
  type OperatorOperationName,
  type OperatorOutput,
  operator_operations,
} from '#contract/operator/operations.ts'
import { exampleOf } from '#doors/site/docs/example_of.ts'
import type { Grant } from '#panel/grants.ts'

/** Some fields of an object, at any depth. Lists are replaced as a whole. */
export type Changes<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Field in keyof Value]?: Changes<Value[Field]> | undefined }
    : Value

type Page = { data: readonly unknown[] }
type RowOf<Output> = Output extends { data: readonly (infer Row)[] } ? Row : never

type Outputs = { [Name in OperationName]: OutputOfName<Name> } & {
  [Name in OperatorOperationName]: OperatorOutput<Name>
}
export type AnyOperationName = keyof Outputs
export type OutputOf<Name extends AnyOperationName> = Outputs[Name]
export type ListName = {
  [Name in AnyOperationName]: Outputs[Name] extends Page ? Name : never
}[AnyOperationName]

const all = { ...operations, ...operator_operations }

/** A response of the operation, from the examples of the contract, with these changes. */
export function sample<Name extends AnyOperationName>(
  name: Name,
  changes: Changes<OutputOf<Name>> = {} as Changes<OutputOf<Name>>,
): OutputOf<Name> {
  return merged(exampleOf(all[name].output), changes) as OutputOf<Name>
}

/** A row of a list operation. */
export function row<Name extends ListName>(
  name: Name,
  changes: Changes<RowOf<OutputOf<Name>>> = {} as Changes<RowOf<OutputOf<Name>>>,
): RowOf<OutputOf<Name>> {
  const { data } = exampleOf(all[name].output) as Page
  return merged(data[0], changes) as RowOf<OutputOf<Name>>
}

/** One page of a list. With a cursor, more rows follow. */
export const page = <Row>(
  data: readonly Row[],
  next_cursor: string | null = null,
): { data: Row[]; has_more: boolean; next_cursor: string | null } => ({
  data: [...data],
  has_more: next_cursor !== null,
  next_cursor,
})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(base: unknown, changes: unknown): unknown {
  if (!isRecord(base) || !isRecord(changes)) return changes === undefined ? base : changes
  const fields = Object.entries(changes).map(([name, value]) => [name, merged(base[name], value)])
  return { ...base, ...Object.fromEntries(fields) }
}

/** An app that may act for the account, with changes. */
export const grantWith = (changes: Partial<Grant>): Grant => ({
  id: 'grant_1',
  client_id: 'client_1',
  client_name: 'Shopper',
  status: 'active',
  scopes: [],
  card_ids: null,
  last_used_at: null,
  last_used_ip: null,
  created_at: '2026-11-01T00:00:00.000Z',
  expires_at: '2026-12-01T00:00:00.000Z',
  revoked_at: null,
  budget: null,
  ...changes,
})
