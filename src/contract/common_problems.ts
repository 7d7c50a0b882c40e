import { Problem, type ProblemCode } from './problem.ts'

/**
 * Errors that several modules raise, so each message exists once. A message that only one module
 * uses stays where it is thrown.
 */

/** Identical for a missing object and for another account's, so IDs cannot be probed. */
export function notFound(noun: string): Problem {
  return new Problem('not_found', `No such ${noun}.`)
}

/** Rejects one field: `message` continues the field's name and is repeated in `details`. */
export function fieldProblem(code: ProblemCode, field: string, message: string): Problem {
  return new Problem(code, `${field} ${message}.`, { details: [{ field, message }] })
}

export function missingToken(): Problem {
  const message = 'Send an Authorization: Bearer header with a session, API key or OAuth token.'
  return new Problem('missing_token', message)
}

export function tokenRevoked(): Problem {
  return new Problem('token_revoked', 'This credential was revoked or signed out.')
}

export function accountSuspended(): Problem {
  return new Problem('account_suspended', 'This account is suspended. Contact support.')
}

export function totpRequired(): Problem {
  const message = 'Two-factor authentication is on. Send totp_code from your authenticator app.'
  return new Problem('totp_required', message)
}

export function cardNotFrozen(): Problem {
  return new Problem('card_not_frozen', 'This card is not frozen.')
}

export function routeNotFound(): Problem {
  return new Problem('route_not_found', 'Nothing exists at this URL.')
}

export function methodNotAllowed(method: string, allowed: string): Problem {
  return new Problem('method_not_allowed', `${method} is not supported here. Use ${allowed}.`)
}

export function malformedRequest(options: { cause?: unknown } = {}): Problem {
  return new Problem('invalid_request', 'The request is not valid HTTP.', options)
}
