import type { Static, TObject, TSchema } from 'typebox'
import { pathNames } from '#contract/operation.ts'
import type { ProblemCode } from '#contract/problem.ts'
import type { OperatorRole } from '#domain/operators/operator.ts'

/**
 * The shape of a call of those who run the programme. Like the operations it is data: routes, the
 * check of roles and input, and the OpenAPI document are read off it.
 */
export type OperatorCall = {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** Relative to /operator/v1. */
  path: string
  /** The least that the token's role must be. */
  role: OperatorRole
  summary: string
  input: TObject
  output: TSchema
  problems?: readonly ProblemCode[]
  /** A read that shows nothing of any holder. Every other read is recorded like an act. */
  shows_no_holder?: true
  /** Talks to the outside, so it is not done inside a transaction. */
  is_outside?: true
}

export const operatorCall = <const Call extends OperatorCall>(call: Call): Call => call

export type InputOfCall<Call extends OperatorCall> = Static<Call['input']>
export type OutputOfCall<Call extends OperatorCall> = Static<Call['output']>

export const isAct = ({ method }: OperatorCall): boolean => method !== 'GET'

export const routeOf = ({ path }: OperatorCall): string =>
  `/operator/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`

/** What stands in the path, for what was done to which thing. */
export function idsIn({ path }: OperatorCall, input: Readonly<Record<string, unknown>>): string[] {
  return pathNames(path).map((name) => String(input[name]))
}
