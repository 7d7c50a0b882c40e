/** Every error code and its HTTP status. */
export const problem_statuses = {
  invalid_json: 400,
  invalid_request: 400,
  unknown_parameter: 400,
  invalid_cursor: 400,
  invalid_idempotency_key: 400,
  payment_invalid: 400,
  missing_token: 401,
  invalid_token: 401,
  token_expired: 401,
  token_revoked: 401,
  invalid_credentials: 401,
  totp_required: 401,
  totp_invalid: 401,
  reset_token_invalid: 401,
  payment_required: 402,
  payment_failed: 402,
  insufficient_scope: 403,
  policy_denied: 403,
  approval_required: 403,
  credential_not_allowed: 403,
  account_suspended: 403,
  active_card_required: 403,
  not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  email_taken: 409,
  totp_already_enabled: 409,
  totp_not_enabled: 409,
  insufficient_balance: 409,
  insufficient_card_balance: 409,
  card_frozen: 409,
  card_not_frozen: 409,
  card_cancelled: 409,
  cards_limit_reached: 409,
  reveal_already_used: 409,
  topup_not_cancellable: 409,
  dispute_exists: 409,
  dispute_closed: 409,
  evidence_limit_reached: 409,
  idempotency_in_progress: 409,
  key_revoked: 409,
  decision_already_made: 409,
  ticket_closed: 409,
  approval_decided: 409,
  event_expired: 410,
  challenge_expired: 410,
  payload_too_large: 413,
  evidence_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  invalid_amount: 422,
  amount_out_of_range: 422,
  unsupported_asset: 422,
  unsupported_chain: 422,
  unsupported_bin: 422,
  invalid_address: 422,
  address_blocked: 422,
  invalid_mcc: 422,
  invalid_country: 422,
  invalid_merchant_lock: 422,
  invalid_webhook_url: 422,
  unknown_event_type: 422,
  transaction_not_disputable: 422,
  shipping_required: 422,
  weak_password: 422,
  rate_limited: 429,
  reveal_limit_exceeded: 429,
  too_many_attempts: 429,
  internal_error: 500,
  upstream_error: 502,
  upstream_timeout: 504,
  service_unavailable: 503,
  kill_switch_active: 503,
  maintenance: 503,
} as const

export type ProblemCode = keyof typeof problem_statuses

export type ProblemDetail = { field: string; message: string }

/** The page on which the account owner decides about a refused call. */
export type ApprovalLink = { id: string; url: string; expires_at: string }

export type ProblemOptions = {
  details?: readonly ProblemDetail[]
  retry_after_s?: number
  /** Set only if the contract asks for a status other than the code's default. */
  status?: number
  /** Only with `approval_required`. */
  approval?: ApprovalLink
  cause?: unknown
}

/**
 * An error that is shown to the caller. The domain throws a code and a message; only the doors turn
 * it into an HTTP status, an MCP tool error or an ISO 8583 response code. `cause` is only logged.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly details: readonly ProblemDetail[] | undefined
  readonly retry_after_s: number | undefined
  readonly approval: ApprovalLink | undefined

  constructor(code: ProblemCode, sentence: string, options: ProblemOptions = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.status = options.status ?? problem_statuses[code]
    this.details = options.details
    this.retry_after_s = options.retry_after_s
    this.approval = options.approval
  }
}
