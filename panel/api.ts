import { carrierOf, isWrite, type OperationShape, pathNames } from '#contract/operation.ts'
import {
  type InputOfName,
  type OperationName,
  type OutputOfName,
  operations,
} from '#contract/operations.ts'
import type { ErrorBody } from '#contract/shapes.ts'
import { freshKey } from './fresh_key.ts'
import { bearer, dropSession } from './session.ts'

/** The one seam to the service: no other file of the panel knows addresses or headers. */

/** What the service answered instead of what was asked for, in its own words. */
export class ApiProblem extends Error {
  readonly code: string
  readonly status: number
  readonly request_id: string | null
  readonly details: NonNullable<ErrorBody['details']>

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? 'The service did not answer as it should.')
    this.code = body.error ?? 'upstream_error'
    this.status = status
    this.request_id = body.request_id ?? null
    this.details = body.details ?? []
  }
}

type Options = { idempotency_key?: string; signal?: AbortSignal }

/** Calls an operation of the contract by its name, with its own input and output types. */
export async function call<Name extends OperationName>(
  name: Name,
  input: InputOfName<Name>,
  options: Options = {},
): Promise<OutputOfName<Name>> {
  const shape: OperationShape = operations[name]
  const rest: Record<string, unknown> = { ...(input as object) }
  let path = `/v1${shape.path}`
  for (const field of pathNames(shape.path)) {
    path = path.replace(`{${field}}`, encodeURIComponent(String(rest[field])))
    delete rest[field]
  }
  const headers: Record<string, string> = {}
  // A write that is sent twice by a shaky line happens once.
  if (isWrite(shape)) headers['Idempotency-Key'] = options.idempotency_key ?? freshKey()
  const in_query = carrierOf(shape) === 'query'
  return (await request(in_query ? path + queryOf(rest) : path, {
    method: shape.method,
    headers,
    ...(!in_query && { body: rest }),
    ...(options.signal !== undefined && { signal: options.signal }),
  })) as OutputOfName<Name>
}

function queryOf(rest: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

type Sent = {
  method: string
  headers?: Record<string, string>
  body?: object
  signal?: AbortSignal
  /** The session's bearer unless another is given. */
  bearer?: string
}

/** For what is served beside the 52: grants, the sandbox's controls. */
export async function request(path: string, sent: Sent): Promise<unknown> {
  const own = sent.bearer ?? bearer()
  const response = await fetch(path, {
    method: sent.method,
    cache: 'no-store',
    headers: {
      ...(own !== null && { Authorization: `Bearer ${own}` }),
      ...(sent.body !== undefined && { 'Content-Type': 'application/json' }),
      ...sent.headers,
    },
    ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    ...(sent.signal !== undefined && { signal: sent.signal }),
  }).catch((cause: unknown) => {
    if (sent.signal?.aborted) throw cause
    const message = 'The service cannot be reached. Check your connection, then try again.'
    throw new ApiProblem(0, { error: 'unreachable', message })
  })
  if (response.ok) return response.status === 204 ? {} : response.json()
  const problem = new ApiProblem(response.status, await response.json().catch(() => ({})))
  const was_ours = sent.bearer === undefined && own !== null
  if (was_ours && SESSION_ENDED.includes(problem.code)) dropSession()
  throw problem
}

const SESSION_ENDED = ['invalid_token', 'token_expired', 'token_revoked']
