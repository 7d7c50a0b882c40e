import type { InputOfName, OperationName, OutputOfName, operations } from '#contract/operations.ts'
import type { routes } from '#contract/routes.ts'
import type { Listing, Page } from './listing.ts'
import type { Upload } from './upload.ts'

export type { OperationName }

/** Optional fields also accept undefined, which is the same as omitting them. */
type AllowUndefined<Fields> = {
  [Name in keyof Fields]: object extends Pick<Fields, Name>
    ? Fields[Name] | undefined
    : Fields[Name]
}

/** Enums in responses may gain values, so their types accept any string and complete known ones. */
type Extensible<Value> = Value extends string
  ? string extends Value
    ? Value
    : Value | (string & {})
  : Value extends readonly (infer Item)[]
    ? Extensible<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Extensible<Value[Name]> }
      : Value

export type Input<Name extends OperationName> = AllowUndefined<InputOfName<Name>> &
  (Name extends 'add_dispute_evidence' ? Upload : unknown)

export type Output<Name extends OperationName> = (typeof operations)[Name]['status'] extends 204
  ? undefined
  : Extensible<OutputOfName<Name>>

type Result<Name extends OperationName> = (typeof routes)[Name] extends { paged: true }
  ? Output<Name> extends Page<unknown>
    ? Listing<Output<Name>>
    : never
  : Promise<Output<Name>>

export type CallOptions = {
  /** Set your own if another process may retry the call. By default, each call has a new key. */
  idempotency_key?: string | undefined
  signal?: AbortSignal | undefined
  /** Per attempt; for an upload, without progress. */
  timeout_ms?: number | undefined
  retries_max?: number | undefined
  /** For example Reveal-Nonce for reveal_pan. */
  headers?: Readonly<Record<string, string>> | undefined
}

type Method<Name extends OperationName> =
  object extends Input<Name>
    ? (input?: Input<Name>, options?: CallOptions) => Result<Name>
    : (input: Input<Name>, options?: CallOptions) => Result<Name>

/** One method per operation. Mapped from the operations table, so editors show its comments. */
export type Client = { readonly [Name in keyof typeof operations]: Method<Name> }
