import type { Scope } from '#contract/scopes.ts'
import type { Answer } from '#operations/call.ts'

/** An error sent as an HTTP status instead of a JSON-RPC response, with the scopes to request. */
export class HttpRefusal extends Error {
  readonly answer: Answer
  /** The missing scopes; empty if no scope would help. */
  readonly needed: readonly Scope[]

  constructor(answer: Answer, needed: readonly Scope[] = []) {
    super('refused')
    this.answer = answer
    this.needed = needed
  }
}

/** The 401 codes about the credential; a wrong password in sign_in is a tool error instead. */
const BEARER_ERRORS = /^\{"error":"(missing_token|invalid_token|token_expired|token_revoked)"/

export function isAboutBearer({ status, body }: Answer): boolean {
  return status === 401 && BEARER_ERRORS.test(body)
}
