import type { Static, TObject, TSchema } from 'typebox'
import type { EventType } from './events.ts'
import type { ProblemCode } from './problem.ts'
import type { Route } from './routes.ts'
import type { Scope } from './scopes.ts'

/**
 * The shape of an operation: all that the world may know of it. REST routes, OpenAPI, agent tools,
 * client methods, commands and forms are read off these values; nothing is generated.
 */
export type OperationShape = Route & {
  name: string
  status: 200 | 201 | 204
  section: Section
  summary: string
  /** For people and models: what it does, when to use it, what it costs, what cannot be undone. */
  description: string
  access: Access
  input: TObject
  output: TSchema
  /** Headers it reads besides the ones that every operation takes, with what each is for. */
  headers?: Readonly<Record<string, string>>
  /** Served on another operation's method and path, when its own required names are present. */
  variant_of?: string
  /** Events of the 18 types that a success writes, in order. */
  emits?: readonly EventType[]
  /** Codes it can answer besides the ones that every operation can. */
  problems?: readonly ProblemCode[]
  /** True where a value of the right shape may be a 422 `invalid_request`. */
  rejects_values?: true
  /** True where it cannot be undone or takes something away: agents are warned. */
  destructive?: boolean
  /** True where doing it twice is the same as doing it once, even without an Idempotency-Key. */
  idempotent?: boolean
  /** What of the answer is shown once only; a replay carries null in its place. */
  shown_once?: readonly string[]
  /** The audit action that every refusal of it is written under, for what must never go unseen. */
  refusals_audited_as?: string
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
  | 'Support and system'

/** Who may call: anyone, or by kind of credential. What is not said here is denied. */
export type Access = 'anyone' | { session: boolean; api_key: KeyAccess; oauth: OAuthAccess }

/** An API key may call it, may not, or may send only the named fields. */
export type KeyAccess = boolean | { only_fields: readonly string[] }

/**
 * The scopes a token must hold: all of these, or one of these; null where no token may call it.
 * `with_field` names fields that need one more scope when they are sent; `with_item`, lists that
 * need it for one of their items.
 */
export type OAuthAccess =
  | null
  | {
      all: readonly Scope[]
      with_field?: Readonly<Record<string, Scope>>
      with_item?: Readonly<Record<string, Readonly<Record<string, Scope>>>>
    }
  | { any: readonly Scope[] }

/** Sessions and API keys both, and a token that holds every one of these scopes. */
export const scoped = (...all: readonly Scope[]): Access => ({
  session: true,
  api_key: true,
  oauth: { all },
})

/** Sessions and API keys, but no token whatever its scopes. */
export const holderOnly: Access = { session: true, api_key: true, oauth: null }

/** Only a session: what would let a leaked key or an agent take over the account. */
export const sessionOnly: Access = { session: true, api_key: false, oauth: null }

/** Keeps the literal types, so that a handler's input and output can be read off by name. */
export const operation = <const Shape extends OperationShape>(shape: Shape): Shape => shape

export type InputOf<Shape extends OperationShape> = Static<Shape['input']>
export type OutputOf<Shape extends OperationShape> = Static<Shape['output']>

const PATH_NAME = /\{(\w+)\}/g

export function pathNames(path: string): string[] {
  return [...path.matchAll(PATH_NAME)].map((match) => match[1] ?? '')
}

export function isWrite(shape: OperationShape): boolean {
  return shape.method !== 'GET'
}

/** What it takes to know how an input travels and what it may be. */
export type InputShape = { method: string; input: TObject; carries?: 'body' }

/** Where the input that is not in the path travels. */
export function carrierOf(shape: Omit<InputShape, 'input'>): 'query' | 'body' {
  if (shape.carries !== undefined) return shape.carries
  return shape.method === 'GET' || shape.method === 'DELETE' ? 'query' : 'body'
}
