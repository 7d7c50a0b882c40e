import { FlorinError } from './error.ts'

export type Patience = {
  /** How often a call that may be repeated is tried again. */
  retries_max: number
  /** A Retry-After that is longer than this is left to the caller. */
  wait_max_ms: number
}

type Attempts = Patience & {
  /** Whether doing it twice is the same as doing it once. */
  isRepeatable: boolean
  signal: AbortSignal | undefined
}

const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 8_000

/** Answers of a class that usually passes, from which these will not. */
const LASTING = ['kill_switch_active', 'too_many_attempts', 'reveal_limit_exceeded']

/** Tries until it works, it is certain that it will not, or patience ends. */
export async function withRetries<Value>(
  attempt: () => Promise<Value>,
  { isRepeatable, retries_max, wait_max_ms, signal }: Attempts,
): Promise<Value> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt()
    } catch (cause) {
      if (retries >= retries_max || !(cause instanceof FlorinError)) throw cause
      if (!wasRefusedUntouched(cause) && !(isRepeatable && mayPass(cause))) throw cause
      const wait_ms = cause.retry_after === null ? backOff(retries) : cause.retry_after * 1_000
      if (wait_ms > wait_max_ms) throw cause
      await pause(wait_ms, signal)
    }
  }
}

/** Turned away before anything was done, so that even a one-time call may knock again. */
const wasRefusedUntouched = ({ code }: FlorinError): boolean => code === 'rate_limited'

function mayPass({ code, status }: FlorinError): boolean {
  if (LASTING.includes(code)) return false
  return status === 0 || status === 429 || status >= 500 || code === 'idempotency_in_progress'
}

/** Twice as long each time, and by chance a little less: many who failed at once return apart. */
function backOff(retries: number): number {
  const wait_ms = Math.min(FIRST_WAIT_MS * 2 ** retries, LAST_WAIT_MS)
  return wait_ms * (0.5 + Math.random() / 2)
}

function pause(wait_ms: number, signal: AbortSignal | undefined): Promise<void> {
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
