import { type ApprovalLink, FlorinError } from '#client/client.ts'

/** One exit code per class of failure, so scripts need not parse messages. */
export const exit_codes = {
  ok: 0,
  unexpected: 1,
  /** The command or its input is wrong: usage, HTTP 400 and 413 to 415. */
  usage: 2,
  /** No credential, or one without permission: HTTP 401 and 403. */
  not_allowed: 3,
  not_found: 4,
  /** A valid request that the service refused: HTTP 402, 405, 409, 410 and 422. */
  refused: 5,
  too_many: 6,
  /** The service failed or could not be reached. */
  unavailable: 7,
  /** A setting of the service is invalid (EX_CONFIG in sysexits.h). */
  settings: 78,
} as const

export function exitCodeFor(cause: unknown): number {
  if (cause instanceof UsageError) return exit_codes.usage
  if (!(cause instanceof FlorinError)) return exit_codes.unexpected
  const { status } = cause
  if (status === 400 || (status >= 413 && status <= 415)) return exit_codes.usage
  if (status === 401 || status === 403) return exit_codes.not_allowed
  if (status === 404) return exit_codes.not_found
  if (status === 429) return exit_codes.too_many
  if (status === 0 || status >= 500) return exit_codes.unavailable
  return status >= 400 ? exit_codes.refused : exit_codes.unexpected
}

/** A mistake in the command line that the user can correct. */
export class UsageError extends Error {}

export const isExpected = (cause: unknown): boolean =>
  cause instanceof FlorinError || cause instanceof UsageError

/** Prints the message, then the error code and request ID to quote in a support request. */
export function printError(cause: unknown, { json = false, isOperator = false } = {}): void {
  process.exitCode = exitCodeFor(cause)
  if (cause instanceof FlorinError) {
    process.stderr.write(
      json ? `${JSON.stringify(errorBody(cause))}\n` : errorLines(cause, isOperator),
    )
  } else if (cause instanceof UsageError) {
    process.stderr.write(`${cause.message}\n`)
  } else {
    process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`)
  }
}

const errorBody = ({ code, message, request_id, details, approval }: FlorinError) => ({
  error: code,
  message,
  request_id,
  ...(details.length > 0 && { details }),
  ...(approval !== null && { approval }),
})

function errorLines(error: FlorinError, isOperator: boolean): string {
  const { code, request_id, details, approval } = error
  const message = code === 'missing_token' ? 'You are not signed in.' : error.message
  const fields = details.map((each) => `  ${each.field}: ${each.message}`)
  const reference = request_id === null ? code : `${code}, request ${request_id}`
  const hints = approval === null ? hintsOf(code, isOperator) : [approvalHint(approval)]
  return [message, ...fields, ...hints, `(${reference})`, ''].join('\n')
}

const approvalHint = ({ id, url }: ApprovalLink) =>
  `The owner decides at ${url}, or with \`florin approvals approve ${id}\`.`

const sign_in_codes: ReadonlySet<string> = new Set([
  'missing_token',
  'invalid_token',
  'token_expired',
  'token_revoked',
])

function hintsOf(code: string, isOperator: boolean): string[] {
  if (code === 'network_error') return [NETWORK_HINT]
  return sign_in_codes.has(code) ? [isOperator ? OPERATOR_HINT : LOGIN_HINT] : []
}

const NETWORK_HINT = 'Start the service, or set its address with --server or FLORIN_URL.'
const LOGIN_HINT = 'Run `florin login`, or set FLORIN_KEY.'
const OPERATOR_HINT = 'Set FLORIN_OPERATOR_TOKEN; `florin operator create` creates a token.'
