import type { Delivery } from '#contract/webhooks.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { EgressFailed, type HttpResponse } from '#platform/http_client/http_client.ts'
import { retryAfterMs } from './schedule.ts'
import { signatureHeader } from './signature.ts'
import { signingSecrets, type WebhookRow } from './webhook.ts'

/** What an attempt needs to know, whether it was due or asked for. */
export type Sending = Pick<
  WebhookRow,
  'url' | 'secret_sealed' | 'previous_secret_sealed' | 'previous_secret_expires_at'
> & {
  account_id: string
  webhook_id: string
  event_id: string
  event_type: string
  body: string
}

export type AttemptRow = {
  account_id: string
  webhook_id: string
  event_id: string
  attempt: number
  id: string
  event_type: string
  trigger: 'automatic' | 'replay'
  url: string
  status: 'succeeded' | 'failed'
  response_status: number | null
  response_excerpt: string | null
  error: string | null
  duration_ms: number
  created_at: Date
}

/** How an attempt went. */
export type Outcome = Pick<
  AttemptRow,
  'id' | 'status' | 'response_status' | 'response_excerpt' | 'error' | 'duration_ms' | 'created_at'
> & { retry_after_ms: number | null }

const TIMEOUT_MS = 15_000
/** More is not read: the answer says nothing that we act on, and 1 GB of it least of all. */
const RESPONSE_BYTES_MAX = 65_536
const EXCERPT_BYTES_MAX = 1_024
export const GONE = 410

type Tools = Pick<Dependencies, 'http' | 'keys' | 'clock' | 'newId'>

/** One attempt, now. It holds no connection of the database and never throws for the endpoint. */
export async function attempt(
  tools: Tools,
  sending: Sending,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { http, clock, newId } = tools
  const created_at = clock.now()
  const started = clock.monotonic()
  const secrets = signingSecrets(tools, sending, created_at)
  const id = newId('dlv', created_at)
  let answer: HttpResponse | null = null
  let error: string | null = null
  try {
    answer = await http.send({
      method: 'POST',
      url: sending.url,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Florin-Webhooks/1',
        'service-signature': signatureHeader(sending.body, secrets, clock.wall()),
        'service-event-id': sending.event_id,
      },
      body: sending.body,
      timeout_ms: TIMEOUT_MS,
      response_bytes_max: RESPONSE_BYTES_MAX,
      // A receiver must be ready to hear an event twice, so a kept connection may be tried.
      reuse_connection: true,
      ...(signal !== undefined && { signal }),
    })
  } catch (cause) {
    if (!(cause instanceof EgressFailed)) throw cause
    error = cause.reason
  }
  const isSuccess = answer !== null && answer.status >= 200 && answer.status < 300
  return {
    id,
    created_at,
    status: isSuccess ? 'succeeded' : 'failed',
    response_status: answer?.status ?? null,
    response_excerpt: answer === null ? null : excerptOf(answer.body),
    error,
    duration_ms: Math.round(clock.monotonic() - started),
    retry_after_ms: isSuccess ? null : retryAfterMs(answer?.headers['retry-after'], clock.wall()),
  }
}

/** As text that the database can hold; letters that are none become question marks. */
function excerptOf(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const start = body.subarray(0, EXCERPT_BYTES_MAX)
  const text = new TextDecoder('utf-8').decode(start, { stream: true })
  return text.replaceAll(/[\u0000\ufffd]/g, '?')
}

export function attemptView(attempt: AttemptRow & { next_attempt_at: Date | null }): Delivery {
  return {
    id: attempt.id,
    event_id: attempt.event_id,
    event_type: attempt.event_type,
    webhook_id: attempt.webhook_id,
    attempt: attempt.attempt,
    trigger: attempt.trigger,
    url: attempt.url,
    status: attempt.status,
    response_status: attempt.response_status,
    response_excerpt: attempt.response_excerpt,
    error: attempt.error,
    duration_ms: attempt.duration_ms,
    created_at: attempt.created_at.toISOString(),
    next_attempt_at: attempt.next_attempt_at?.toISOString() ?? null,
  }
}
