import type { InputOfName, OperationName, OutputOfName, operations } from '#contract/operations.ts'
import type { routes } from '#contract/routes.ts'
import type { Listing, Page } from './listing.ts'
import type { Upload } from './upload.ts'

export type { OperationName }

/** Optional fields may also be given as undefined, which is the same as leaving them out. */
type Lenient<Fields> = {
  [Name in keyof Fields]: object extends Pick<Fields, Name>
    ? Fields[Name] | undefined
    : Fields[Name]
}

/** Words of an answer may gain members, so that only the known ones complete and all are taken. */
type Open<Value> = Value extends string
  ? string extends Value
    ? Value
    : Value | (string & {})
  : Value extends readonly (infer Item)[]
    ? Open<Item>[]
    : Value extends object
      ? { [Name in keyof Value]: Open<Value[Name]> }
      : Value

export type Input<Name extends OperationName> = Lenient<InputOfName<Name>> &
  (Name extends 'add_dispute_evidence' ? Upload : unknown)

export type Output<Name extends OperationName> = (typeof operations)[Name]['status'] extends 204
  ? undefined
  : Open<OutputOfName<Name>>

type Answer<Name extends OperationName> = (typeof routes)[Name] extends { paged: true }
  ? Output<Name> extends Page<unknown>
    ? Listing<Output<Name>>
    : never
  : Promise<Output<Name>>

export type CallOptions = {
  /** Of your own, where a repeat may come from another process; otherwise one is made. */
  idempotency_key?: string | undefined
  signal?: AbortSignal | undefined
  /** For each attempt. */
  timeout_ms?: number | undefined
  retries_max?: number | undefined
  /** Reveal-Nonce for reveal_pan, say. */
  headers?: Readonly<Record<string, string>> | undefined
}

type Method<Name extends OperationName> =
  object extends Input<Name>
    ? (input?: Input<Name>, options?: CallOptions) => Answer<Name>
    : (input: Input<Name>, options?: CallOptions) => Answer<Name>

/** The 52 operations as methods. Named by their table, so that its comments are shown with them. */
export type Client = { readonly [Name in keyof typeof operations]: Method<Name> }
