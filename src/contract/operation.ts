import type { Static, TObject, TSchema } from 'typebox'
import type { EventType, NamedEventType } from './events.ts'
import type { OperatorRole } from './operator/roles.ts'
import type { ProblemCode } from './problem.ts'
import type { Route } from './routes.ts'
import type { Scope } from './scopes.ts'

/** An operation as the pipeline runs it: one of the public API or one of the operator API. */
export type Operation = Route & {
  name: string
  status: 200 | 201 | 202 | 204
  summary: string
  access: Access
  input: TObject
  output: TSchema
  /** Error codes specific to this operation, in addition to those any operation can return. */
  problems?: readonly ProblemCode[]
  /** Response fields that are shown only once; a replayed response has null instead. */
  shown_once?: readonly string[]
  /** If set, every refused call is written to the audit log under this action. */
  refusals_audited_as?: string
  /** Counts calls by the bearer sent with them, to limit guesses of the second factor. */
  rated_by?: 'bearer'
}

/**
 * An operation of the public API. REST routes, OpenAPI, MCP tools, client methods, CLI commands and
 * panel forms all read these values; no code is generated.
 */
export type OperationShape = Operation & {
  section: Section
  /** For people and models: what it does, when to use it, what it costs, what can't be undone. */
  description: string
  access: PublicAccess
  /** Request headers specific to this operation, with a description of each. */
  headers?: Readonly<Record<string, string>>
  /** Shares the method and path of this operation; chosen when its own required fields are sent. */
  variant_of?: string
  /** Webhook event types that a success emits, in order. */
  emits?: readonly (EventType | NamedEventType)[]
  /** True if a well-formed value can still be refused with 422 `invalid_request`. */
  rejects_values?: true
  /** True if it can't be undone or removes something: MCP clients are warned. */
  destructive?: boolean
  /** True if repeating the call has no further effect, even without an Idempotency-Key. */
  idempotent?: boolean
}

export type Section =
  | 'Accounts and sessions'
  | 'API keys'
  | 'Balance'
  | 'Top-ups'
  | 'Cards'
  | 'Transactions'
  | 'Activity and audit'
  | 'Withdrawals'
  | 'Disputes'
  | 'Webhooks'
  | 'Approvals'
  | 'Support and system'

/** Credentials that may call the operation. Anything not listed is denied. */
export type Access = PublicAccess | OperatorAccess

export type PublicAccess = 'anyone' | AccountAccess

export type AccountAccess = { session: boolean; api_key: KeyAccess; oauth: OAuthAccess }

/** An operator token of this role or a higher one. */
export type OperatorAccess = { operator: OperatorRole }

/** True if API keys may call it; `only_fields` restricts the fields they may send. */
type KeyAccess = boolean | { only_fields: readonly string[] }

/**
 * The scopes an OAuth token needs: `all` of them or `any` one; null denies every token.
 * `with_field` requires one more scope when that field is sent; `with_item`, when a list field
 * contains that item.
 */
export type OAuthAccess =
  | null
  | {
      all: readonly Scope[]
      with_field?: Readonly<Record<string, Scope>>
      with_item?: Readonly<Record<string, Readonly<Record<string, Scope>>>>
    }
  | { any: readonly Scope[] }

/** Sessions, API keys, and OAuth tokens that hold all of these scopes. */
export const scoped = (...all: readonly Scope[]): AccountAccess => ({
  session: true,
  api_key: true,
  oauth: { all },
})

/** Sessions and API keys, but no OAuth token. */
export const sessionOrKeyOnly: AccountAccess = { session: true, api_key: true, oauth: null }

/** Sessions only: a leaked API key or an agent must not be able to take over the account. */
export const sessionOnly: AccountAccess = { session: true, api_key: false, oauth: null }

/** Keeps the literal types, so handlers can derive their input and output types. */
export const operation = <const Shape extends OperationShape>(shape: Shape): Shape => shape

export type InputOf<Shape extends Operation> = Static<Shape['input']>
export type OutputOf<Shape extends Operation> = Static<Shape['output']>

const PATH_NAME = /\{(\w+)\}/g

export function pathNames(path: string): string[] {
  return [...path.matchAll(PATH_NAME)].map((match) => match[1] ?? '')
}

export function isWrite({ method }: Operation): boolean {
  return method !== 'GET'
}

/** DELETE is idempotent by itself. */
export function takesIdempotencyKey({ method }: Operation): boolean {
  return method === 'POST' || method === 'PATCH' || method === 'PUT'
}

/** The part of an operation that input parsing needs. */
export type InputShape = { method: string; input: TObject; carries?: 'body' }

/** The place of input fields that are not in the path. */
export function inputLocation(shape: Omit<InputShape, 'input'>): 'query' | 'body' {
  if (shape.carries !== undefined) return shape.carries
  return shape.method === 'GET' || shape.method === 'DELETE' ? 'query' : 'body'
}
