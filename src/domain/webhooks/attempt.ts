import type { Delivery } from '#contract/webhooks.ts'
import { EgressFailed, type HttpResponse } from '#platform/http_client/http_client.ts'
import { retryAfterMs } from './schedule.ts'
import { signatureHeader } from './signature.ts'
import { signingSecrets, type WebhookRow } from './webhook.ts'
import type { AttemptDependencies } from './webhook_dependencies.ts'

/** An event to send to a webhook, by schedule or as a replay. */
export type OutgoingDelivery = Pick<
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

/** The result of an attempt. */
export type AttemptOutcome = Pick<
  AttemptRow,
  'id' | 'status' | 'response_status' | 'response_excerpt' | 'error' | 'duration_ms' | 'created_at'
> & {
  retry_after_ms: number | null
  /** The part of the response that was read. Null without a response. */
  response_body: Uint8Array | null
}

const TIMEOUT_MS = 15_000
/** The rest of the response is not read; only the excerpt is stored. */
const RESPONSE_BYTES_MAX = 65_536
const EXCERPT_BYTES_MAX = 1_024
export const GONE = 410

/** Holds no database connection. A failure of the endpoint is an outcome, not an exception. */
export async function sendAttempt(
  dependencies: AttemptDependencies,
  delivery: OutgoingDelivery,
  signal?: AbortSignal,
): Promise<AttemptOutcome> {
  const { http, clock, newId } = dependencies
  const created_at = clock.now()
  const started = clock.monotonic()
  const secrets = signingSecrets(dependencies.keys, delivery, created_at)
  const id = newId('dlv', created_at)
  // Signing and sending would each encode the text.
  const body = Buffer.from(delivery.body)
  let response: HttpResponse | null = null
  let error: string | null = null
  try {
    response = await http.send({
      method: 'POST',
      url: delivery.url,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Florin-Webhooks/1',
        'service-signature': signatureHeader(body, secrets, clock.wall()),
        'service-event-id': delivery.event_id,
      },
      body,
      timeout_ms: TIMEOUT_MS,
      response_bytes_max: RESPONSE_BYTES_MAX,
      // Receivers must tolerate duplicates, so a request that fails on a reused connection is safe.
      reuse_connection: true,
      ...(signal !== undefined && { signal }),
    })
  } catch (cause) {
    if (!(cause instanceof EgressFailed)) throw cause
    error = cause.reason
  }
  const isSuccess = response !== null && response.status >= 200 && response.status < 300
  return {
    id,
    created_at,
    status: isSuccess ? 'succeeded' : 'failed',
    response_status: response?.status ?? null,
    response_excerpt: response === null ? null : excerptOf(response.body),
    error,
    duration_ms: Math.round(clock.monotonic() - started),
    response_body: response?.body ?? null,
    retry_after_ms: isSuccess ? null : retryAfterMs(response?.headers['retry-after'], clock.wall()),
  }
}

/** PostgreSQL cannot store NUL in text, so it and invalid UTF-8 become question marks. */
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
