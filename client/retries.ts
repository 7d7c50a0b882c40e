import { FlorinError } from './error.ts'

export type RetryPolicy = {
  /** Maximum number of retries of a call that is safe to repeat. */
  retries_max: number
  /** A longer Retry-After is not waited for; the call fails instead. */
  wait_max_ms: number
}

type RetryOptions = RetryPolicy & {
  /** Sending the call twice has the same effect as sending it once. */
  isRepeatable: boolean
  signal: AbortSignal | undefined
}

const BACKOFF_MIN_MS = 250
const BACKOFF_MAX_MS = 8_000

/** Codes with a 429 or 5xx status that a retry does not fix. */
const NOT_TRANSIENT = ['kill_switch_active', 'too_many_attempts', 'reveal_limit_exceeded']

/** Retries transient failures until one attempt succeeds or the policy is exhausted. */
export async function withRetries<Value>(
  attempt: () => Promise<Value>,
  { isRepeatable, retries_max, wait_max_ms, signal }: RetryOptions,
): Promise<Value> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt()
    } catch (cause) {
      if (retries >= retries_max || !(cause instanceof FlorinError)) throw cause
      if (!isRateLimited(cause) && !(isRepeatable && isTransient(cause))) throw cause
      const wait_ms = cause.retry_after === null ? backoffMs(retries) : cause.retry_after * 1_000
      if (wait_ms > wait_max_ms) throw cause
      await sleep(wait_ms, signal)
    }
  }
}

/** The service checks the rate limit first, so even calls that must run once can be retried. */
const isRateLimited = ({ code }: FlorinError): boolean => code === 'rate_limited'

function isTransient({ code, status }: FlorinError): boolean {
  if (NOT_TRANSIENT.includes(code)) return false
  return status === 0 || status === 429 || status >= 500 || code === 'idempotency_in_progress'
}

/** Exponential backoff with jitter, so clients that failed together do not retry together. */
function backoffMs(retries: number): number {
  const wait_ms = Math.min(BACKOFF_MIN_MS * 2 ** retries, BACKOFF_MAX_MS)
  return wait_ms * (0.5 + Math.random() / 2)
}

function sleep(wait_ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, wait_ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
