import type { ProblemCode } from '#contract/problem.ts'

/** New codes may be added. Fall back to the status for codes you do not handle. */
export type ErrorCode =
  | ProblemCode
  /** The service could not be reached, or the connection failed; see `cause`. */
  | 'network_error'
  /** No response within `timeout_ms`. */
  | 'timeout'
  /** The response did not come from Florin but, for example, from a proxy. */
  | 'unexpected_response'
  | (string & {})

export type ErrorFields = {
  code: ErrorCode
  message: string
  /** The HTTP status; 0 if there was no response. */
  status?: number
  request_id?: string | null
  details?: readonly { field: string; message: string }[]
  /** Seconds to wait before a retry, from the Retry-After header. */
  retry_after?: number | null
  approval?: ApprovalLink | null
  cause?: unknown
}

/** The page on which the account owner decides a call refused with `approval_required`. */
export type ApprovalLink = { id: string; url: string; expires_at: string }

/** Thrown by every failed call, except that an aborted `signal` throws its own reason. */
export class FlorinError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly request_id: string | null
  readonly details: readonly { field: string; message: string }[]
  readonly retry_after: number | null
  readonly approval: ApprovalLink | null

  constructor(fields: ErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = 'FlorinError'
    this.code = fields.code
    this.status = fields.status ?? 0
    this.request_id = fields.request_id ?? null
    this.details = fields.details ?? []
    this.retry_after = fields.retry_after ?? null
    this.approval = fields.approval ?? null
  }
}

/** Converts an error response of the service or of a proxy. */
export function errorFromResponse({ status, headers }: Response, text: string): FlorinError {
  const body = parseObject(text)
  return new FlorinError({
    code: readString(body, 'error') ?? 'unexpected_response',
    message:
      readString(body, 'message') ??
      `Unexpected response (HTTP ${status}). It did not come from Florin.`,
    status,
    request_id: headers.get('request-id') ?? readString(body, 'request_id') ?? null,
    details: Array.isArray(body['details']) ? body['details'] : [],
    retry_after: parseRetryAfter(headers.get('retry-after')),
    approval: readApproval(body['approval']),
  })
}

function readApproval(value: unknown): ApprovalLink | null {
  const fields = Object(value) as Record<string, unknown>
  const [id, url, expires_at] = ['id', 'url', 'expires_at'].map((name) => readString(fields, name))
  if (id === undefined || url === undefined || expires_at === undefined) return null
  return { id, url, expires_at }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function readString(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

/** Retry-After is a number of seconds or an HTTP date. */
function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
