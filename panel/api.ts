import { createClient, FlorinError } from '#client/client.ts'
import { errorIn } from '#client/error.ts'
import type { CallOptions } from '#client/shapes.ts'
import type { InputOfName, OperationName, OutputOfName } from '#contract/operations.ts'
import { bearer, dropSession } from './session.ts'
import { toast } from './ui/toast.tsx'

/** The one seam to the service: no other file of the panel knows its addresses or headers. */

const client = createClient({ url: location.origin, bearer: () => bearer() ?? undefined })

type Method = (input: object, options: CallOptions) => PromiseLike<unknown>

/** Calls an operation of the contract by its name, with its own input and output types. */
export async function call<Name extends OperationName>(
  name: Name,
  input: InputOfName<Name>,
  options: CallOptions = {},
): Promise<OutputOfName<Name>> {
  try {
    return (await (client[name] as Method)(input as object, options)) as OutputOfName<Name>
  } catch (cause) {
    throw noticed(cause)
  }
}

const SESSION_ENDED = ['invalid_token', 'token_expired', 'token_revoked']

/** A session that has ended elsewhere ends here too, and says why. */
function noticed(cause: unknown): unknown {
  if (!(cause instanceof FlorinError) || !SESSION_ENDED.includes(cause.code)) return cause
  if (bearer() !== null) toast(cause.message, 'bad')
  dropSession()
  return cause
}

type Sent = {
  method: string
  headers?: Record<string, string>
  body?: object | URLSearchParams
  signal?: AbortSignal
  /** Another bearer than the session's: an operator's, or null for none. */
  bearer?: string | null
}

/** For what is served beside the 52 operations: the activity stream, grants, the sandbox. */
export async function open(path: string, sent: Sent): Promise<Response> {
  const own = sent.bearer === undefined ? bearer() : sent.bearer
  const headers = new Headers(sent.headers)
  if (own !== null) headers.set('Authorization', `Bearer ${own}`)
  const { body } = sent
  const is_form = body instanceof URLSearchParams
  if (body !== undefined && !is_form) headers.set('Content-Type', 'application/json')
  const response = await fetch(path, {
    method: sent.method,
    cache: 'no-store',
    headers,
    body: body === undefined ? null : is_form ? body : JSON.stringify(body),
    signal: sent.signal ?? null,
  }).catch((cause: unknown) => {
    sent.signal?.throwIfAborted()
    const message = 'Can’t reach Florin. Check your connection and try again.'
    throw new FlorinError({ code: 'network_error', message, cause })
  })
  if (response.ok) return response
  const problem = errorIn(response, await response.text())
  throw sent.bearer === undefined ? noticed(problem) : problem
}

export async function request<Answer>(path: string, sent: Sent): Promise<Answer> {
  const text = await (await open(path, sent)).text()
  return (text === '' ? {} : JSON.parse(text)) as Answer
}
