import type { TSchema } from 'typebox'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { request_examples } from '#doors/site/request_examples.ts'
import type { RequestOptions } from './http.ts'

export const shapes: readonly OperationShape[] = Object.values(operations)

const EXAMPLE_BODY = '01kc3z8e5xf8m9r4t2v6w7y8za'
const path_prefixes: Readonly<Record<string, string>> = {
  api_keys: 'key',
  topups: 'tup',
  cards: 'card',
  transactions: 'txn',
  withdrawals: 'wd',
  disputes: 'dsp',
  webhooks: 'wh',
  events: 'evt',
  tickets: 'tkt',
  sessions: 'sess',
}

/** The path under /v1 with well-formed IDs that don't exist. */
export function pathOf({ path }: OperationShape): string {
  return `/v1${path.replaceAll(/(\w+)\/\{\w+\}/g, (_, noun: string) => {
    return `${noun}/${path_prefixes[noun] ?? noun}_${EXAMPLE_BODY}`
  })}`
}

/** A well-formed body, for operations that take one. */
export function bodyOf({ name }: OperationShape): Record<string, unknown> {
  const examples = request_examples[name as OperationName] ?? {}
  return { ...(Object.values(examples)[0] as Record<string, unknown> | undefined) }
}

/** The query parameters that a call must have, with valid values. */
export function requiredQueryOf(shape: OperationShape): Record<string, string> {
  if (inputLocation(shape) === 'body') return {}
  const in_path = pathNames(shape.path)
  const names = ((shape.input.required ?? []) as string[]).filter((name) => !in_path.includes(name))
  return Object.fromEntries(names.map((name) => [name, enumOf(shape.input.properties[name])]))
}

/** The same as the end of a URL. */
export function queryOf(shape: OperationShape): string {
  const query = new URLSearchParams(requiredQueryOf(shape))
  return query.size === 0 ? '' : `?${query}`
}

function enumOf(schema: TSchema | undefined): string {
  const { enum: words, examples } = (schema ?? {}) as { enum?: string[]; examples?: string[] }
  return words?.[0] ?? examples?.[0] ?? 'x'
}

/** Valid request options for a call of this operation. */
export function sentFor(operation: OperationShape): RequestOptions {
  return inputLocation(operation) === 'body' ? { body: bodyOf(operation) } : {}
}
