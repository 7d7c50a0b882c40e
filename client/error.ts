import type { ProblemCode } from '#contract/problem.ts'

/** More codes may come: a caller that meets one it does not know goes by the status. */
export type ErrorCode =
  | ProblemCode
  /** The service could not be reached, or the connection broke; the cause says how. */
  | 'network_error'
  /** No answer came within `timeout_ms`. */
  | 'timeout'
  /** The answer was not one of Florin's: something between here and there spoke up. */
  | 'unexpected_answer'
  | (string & {})

export type ErrorFacts = {
  code: ErrorCode
  message: string
  /** The HTTP status; 0 where there was no answer. */
  status?: number
  request_id?: string | null
  details?: readonly { field: string; message: string }[]
  /** Seconds to wait before trying again, where the service says so. */
  retry_after?: number | null
  cause?: unknown
}

/** Every way a call can fail but one: what the caller's own signal aborts throws its reason. */
export class FlorinError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly request_id: string | null
  readonly details: readonly { field: string; message: string }[]
  readonly retry_after: number | null

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'FlorinError'
    this.code = facts.code
    this.status = facts.status ?? 0
    this.request_id = facts.request_id ?? null
    this.details = facts.details ?? []
    this.retry_after = facts.retry_after ?? null
  }
}

/** What the service said, or what somebody said in its place. */
export function errorIn({ status, headers }: Response, text: string): FlorinError {
  const body = bodyIn(text)
  return new FlorinError({
    code: stringIn(body, 'error') ?? 'unexpected_answer',
    message: stringIn(body, 'message') ?? `The answer is not one of Florin's (HTTP ${status}).`,
    status,
    request_id: headers.get('request-id') ?? stringIn(body, 'request_id') ?? null,
    details: Array.isArray(body['details']) ? body['details'] : [],
    retry_after: secondsIn(headers.get('retry-after')),
  })
}

function bodyIn(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function stringIn(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

/** Seconds, or a date as proxies like to send. */
function secondsIn(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
