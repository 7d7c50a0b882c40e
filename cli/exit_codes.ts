import { FlorinError } from '#client/client.ts'

/** What a script can go by without reading: one code for each class of failure. */
export const exit_codes = {
  ok: 0,
  unexpected: 1,
  /** The command or its input is wrong: usage, HTTP 400 and 413 to 415. */
  usage: 2,
  /** No credential, or one that may not: HTTP 401 and 403. */
  not_allowed: 3,
  not_found: 4,
  /** Understood and refused: HTTP 402, 405, 409, 410 and 422. */
  refused: 5,
  too_many: 6,
  /** The service failed or could not be reached. */
  unavailable: 7,
  /** A setting of the service is wrong (EX_CONFIG of sysexits). */
  settings: 78,
} as const

export function exitCodeOf(cause: unknown): number {
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

/** Something that the caller can put right by typing it differently. */
export class UsageError extends Error {}

export const isExpected = (cause: unknown): boolean =>
  cause instanceof FlorinError || cause instanceof UsageError

/** The sentence, then what to quote when asking for help. */
export function tellFailure(cause: unknown, { json = false } = {}): void {
  process.exitCode = exitCodeOf(cause)
  if (cause instanceof FlorinError) {
    process.stderr.write(json ? `${JSON.stringify(errorBody(cause))}\n` : errorLines(cause))
  } else if (cause instanceof UsageError) {
    process.stderr.write(`${cause.message}\n`)
  } else {
    process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`)
  }
}

const errorBody = ({ code, message, request_id, details }: FlorinError) => ({
  error: code,
  message,
  request_id,
  ...(details.length > 0 && { details }),
})

function errorLines({ code, message, request_id, details }: FlorinError): string {
  const fields = details.map((each) => `  ${each.field}: ${each.message}`)
  const facts = request_id === null ? code : `${code}, request ${request_id}`
  return [message, ...fields, `(${facts})`, ''].join('\n')
}
