import { createClient, FlorinError } from '#client/client.ts'
import { errorFromResponse } from '#client/error.ts'
import type { CallOptions } from '#client/shapes.ts'
import type { InputOfName, OperationName, OutputOfName } from '#contract/operations.ts'
import { typographic } from '#kernel/typographic.ts'
import { bearer, clearSession } from './session.ts'
import { toast } from './ui/toast.tsx'

/** All requests of the panel go through this file: no other one builds URLs or headers. */

const client = createClient({ url: location.origin, bearer: () => bearer() ?? undefined })

type Method = (input: object, options: CallOptions) => PromiseLike<unknown>

export async function callOperation<Name extends OperationName>(
  name: Name,
  input: InputOfName<Name>,
  options: CallOptions = {},
): Promise<OutputOfName<Name>> {
  try {
    return (await (client[name] as Method)(input as object, options)) as OutputOfName<Name>
  } catch (cause) {
    throw endExpiredSession(withTypography(cause))
  }
}

/** The same error with its sentences as people read them. */
function withTypography(cause: unknown): unknown {
  if (!(cause instanceof FlorinError)) return cause
  const { code, status, request_id, retry_after } = cause
  const details = cause.details.map(({ field, message }) => ({
    field,
    message: typographic(message),
  }))
  const message = typographic(cause.message)
  return new FlorinError({ code, message, status, request_id, details, retry_after, cause })
}

/** The API's sentences speak of credentials, because a bearer may also be a key or a token. */
const SIGNED_OUT = 'You were signed out. Sign in again to continue.'
const SESSION_ERRORS: Readonly<Record<string, string>> = {
  invalid_token: SIGNED_OUT,
  token_revoked: SIGNED_OUT,
  token_expired: 'Your session expired. Sign in again to continue.',
}

/** Signs out when the service no longer accepts the bearer, and returns the error unchanged. */
function endExpiredSession(cause: unknown): unknown {
  const reason = cause instanceof FlorinError ? SESSION_ERRORS[cause.code] : undefined
  if (reason === undefined) return cause
  if (bearer() !== null) toast(reason, 'bad')
  clearSession()
  return cause
}

type RequestOptions = {
  method: string
  headers?: Record<string, string>
  body?: object | URLSearchParams
  signal?: AbortSignal
  /** Replaces the session's bearer; null sends no Authorization header. */
  bearer?: string | null
}

/** For routes outside the contract: the activity stream, OAuth, the sandbox, files. */
export async function sendRequest(path: string, options: RequestOptions): Promise<Response> {
  const token = options.bearer === undefined ? bearer() : options.bearer
  const headers = new Headers(options.headers)
  if (token !== null) headers.set('Authorization', `Bearer ${token}`)
  const { body } = options
  const is_form = body instanceof URLSearchParams
  if (body !== undefined && !is_form) headers.set('Content-Type', 'application/json')
  const response = await fetch(path, {
    method: options.method,
    cache: 'no-store',
    headers,
    body: body === undefined ? null : is_form ? body : JSON.stringify(body),
    signal: options.signal ?? null,
  }).catch((cause: unknown) => {
    options.signal?.throwIfAborted()
    const message = 'Can’t reach Florin. Check your connection and try again.'
    throw new FlorinError({ code: 'network_error', message, cause })
  })
  if (response.ok) return response
  const error = withTypography(errorFromResponse(response, await response.text()))
  throw options.bearer === undefined ? endExpiredSession(error) : error
}

export async function requestJson<Result>(path: string, options: RequestOptions): Promise<Result> {
  const text = await (await sendRequest(path, options)).text()
  return (text === '' ? {} : JSON.parse(text)) as Result
}
