import { type Route, routes } from '#contract/routes.ts'
import { type Patience, withRetries } from './attempts.ts'
import { errorIn, FlorinError } from './error.ts'
import { type Fields, type Message, messageOf } from './message.ts'
import { type OnPaymentRequired, requirementIn } from './payment.ts'
import type { CallOptions, OperationName } from './shapes.ts'
import { isUpload, uploadOf } from './upload.ts'

export type Settings = Patience & {
  /** Where the service is, without /v1; empty in a page that the service itself has sent. */
  url: string
  /** A session's, a key's or a token's; as a function where it changes. None for sign_in. */
  bearer?: string | (() => Promise<string | undefined> | string | undefined) | undefined
  /** For each attempt. */
  timeout_ms: number
  /** Sent with every call. */
  headers?: Readonly<Record<string, string>>
  onPaymentRequired?: OnPaymentRequired
  /** Sees each answer before it is read: for logs, receipts (PAYMENT-RESPONSE) and rate limits. */
  onResponse?: (response: Response, call: { operation: OperationName }) => void
  fetch: typeof fetch
}

const PAYMENT = 'payment-signature'

type Sending = { operation: OperationName; message: Message; headers: Headers; call: CallOptions }

/** One call with all its attempts, which share one Idempotency-Key and one payment. */
export async function send<Answer>(
  settings: Settings,
  operation: OperationName,
  input: Fields,
  call: CallOptions,
): Promise<Answer> {
  const route: Route = routes[operation]
  const message = isUpload(input) ? uploadOf(route, input) : messageOf(route, input)
  const headers = new Headers({ ...settings.headers, ...call.headers })
  if (message.content_type !== undefined) headers.set('content-type', message.content_type)
  if (route.method === 'POST' || route.method === 'PATCH') {
    headers.set('idempotency-key', call.idempotency_key ?? newKey())
  }
  return withRetries(() => attempt<Answer>(settings, { operation, message, headers, call }), {
    isRepeatable: !route.never_stored && !message.isOnce,
    retries_max: call.retries_max ?? settings.retries_max,
    wait_max_ms: settings.wait_max_ms,
    signal: call.signal,
  })
}

/** 128 bits; randomUUID is missing in pages that came without TLS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** A payment that is asked for is made once; whatever follows carries the same one. */
async function attempt<Answer>(settings: Settings, sending: Sending): Promise<Answer> {
  const { operation, headers } = sending
  const bearer = await bearerOf(settings)
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  const { response, text } = await exchange(settings, sending)
  settings.onResponse?.(response, { operation })
  if (response.ok) return answerIn(response, text) as Answer
  const requirement =
    sending.message.isOnce || headers.has(PAYMENT) ? null : requirementIn(response)
  const payment = requirement && (await settings.onPaymentRequired?.(requirement, { operation }))
  if (!payment) throw errorIn(response, text)
  headers.set(PAYMENT, payment)
  return attempt(settings, sending)
}

const bearerOf = async ({ bearer }: Settings): Promise<string | undefined> =>
  typeof bearer === 'function' ? bearer() : bearer

/** The request and its whole answer, within the time there is. */
async function exchange(
  settings: Settings,
  { message, headers, call }: Sending,
): Promise<{ response: Response; text: string }> {
  const timeout = AbortSignal.timeout(call.timeout_ms ?? settings.timeout_ms)
  const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout])
  const { method, target, makeBody } = message
  // Half duplex has to be said where the body is a stream, and means nothing elsewhere.
  const sent = makeBody === undefined ? {} : { body: makeBody(), duplex: 'half' as const }
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
      ? ['timeout', 'No answer came in time.']
      : ['network_error', `${settings.url} could not be reached.`]
    throw new FlorinError({ code, message: sentence, cause })
  }
}

function answerIn(response: Response, text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw errorIn(response, text)
  }
}
