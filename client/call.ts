import { type Route, routes } from '#contract/routes.ts'
import { noDeadline, startDeadline } from './deadline.ts'
import { errorFromResponse, FlorinError } from './error.ts'
import { type OnPaymentRequired, paymentRequirement } from './payment.ts'
import { buildRequest, type Fields, type HttpRequest } from './request.ts'
import { type RetryPolicy, withRetries } from './retries.ts'
import type { CallOptions, OperationName } from './shapes.ts'
import { buildUpload, isUpload } from './upload.ts'

export type Settings = RetryPolicy & {
  /** Base URL of the service, without /v1. Empty in pages that the service itself serves. */
  url: string
  /** API key, session bearer or access token, or a function that returns one. */
  bearer?: string | (() => Promise<string | undefined> | string | undefined) | undefined
  /** Per attempt; for an upload, without progress. */
  timeout_ms: number
  /** Sent with every call. */
  headers?: Readonly<Record<string, string>>
  onPaymentRequired?: OnPaymentRequired
  /** Called with every response, e.g. to read rate limits or receipts (PAYMENT-RESPONSE). */
  onResponse?: (response: Response, call: { operation: OperationName }) => void
  fetch: typeof fetch
}

const PAYMENT = 'payment-signature'

type PreparedCall = {
  operation: OperationName
  request: HttpRequest
  headers: Headers
  call: CallOptions
}

/** Sends one call. All its attempts share one Idempotency-Key and one payment. */
export async function send<Result>(
  settings: Settings,
  operation: OperationName,
  input: Fields,
  call: CallOptions,
): Promise<Result> {
  const route: Route = routes[operation]
  const request = isUpload(input) ? buildUpload(route, input) : buildRequest(route, input)
  const headers = new Headers({ ...settings.headers, ...call.headers })
  if (request.content_type !== undefined) headers.set('content-type', request.content_type)
  if (route.method === 'POST' || route.method === 'PATCH') {
    headers.set('idempotency-key', call.idempotency_key ?? createIdempotencyKey())
  }
  return withRetries(() => attempt<Result>(settings, { operation, request, headers, call }), {
    isRepeatable: !route.never_stored && !request.isSingleUse,
    retries_max: call.retries_max ?? settings.retries_max,
    wait_max_ms: settings.wait_max_ms,
    signal: call.signal,
  })
}

/** 128 random bits. crypto.randomUUID does not exist in pages served without TLS. */
const createIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Pays at most once per call; retries send the same payment. */
async function attempt<Result>(settings: Settings, prepared: PreparedCall): Promise<Result> {
  const { operation, headers } = prepared
  const bearer = await resolveBearer(settings)
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  const { response, text } = await sendRequest(settings, prepared)
  settings.onResponse?.(response, { operation })
  if (response.ok) return parseBody(response, text) as Result
  const requirement =
    prepared.request.isSingleUse || headers.has(PAYMENT) ? null : paymentRequirement(response)
  const payment = requirement && (await settings.onPaymentRequired?.(requirement, { operation }))
  if (!payment) throw errorFromResponse(response, text)
  headers.set(PAYMENT, payment)
  return attempt(settings, prepared)
}

const resolveBearer = async ({ bearer }: Settings): Promise<string | undefined> =>
  typeof bearer === 'function' ? bearer() : bearer

/** Sends the request and reads the whole response within the timeout. */
async function sendRequest(
  settings: Settings,
  { request, headers, call }: PreparedCall,
): Promise<{ response: Response; text: string }> {
  const { method, target, createBody, isUnobserved } = request
  const timeout_ms = call.timeout_ms ?? settings.timeout_ms
  const { signal: timeout, extend, stop } = isUnobserved ? noDeadline : startDeadline(timeout_ms)
  const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout])
  // fetch requires duplex for stream bodies and ignores it for others.
  const sent = createBody && { body: createBody(extend), duplex: 'half' as const }
  try {
    const response = await settings.fetch(settings.url + target, {
      method,
      headers,
      signal,
      ...sent,
    })
    return { response, text: await response.text() }
  } catch (cause) {
    call.signal?.throwIfAborted()
    const [code, sentence] = timeout.aborted
      ? ['timeout', 'The request timed out.']
      : ['network_error', `Could not reach ${settings.url}.`]
    throw new FlorinError({ code, message: sentence, cause })
  } finally {
    stop()
  }
}

function parseBody(response: Response, text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw errorFromResponse(response, text)
  }
}
