import type { Scope } from '#contract/scopes.ts'
import type { Answer } from '#operations/call.ts'

/** Refused before any answer of the protocol: HTTP itself says no, and what to ask for. */
export class HttpRefusal extends Error {
  readonly answer: Answer
  /** The scopes that would have been needed; empty where none would help. */
  readonly needed: readonly Scope[]

  constructor(answer: Answer, needed: readonly Scope[] = []) {
    super('refused')
    this.answer = answer
    this.needed = needed
  }
}

/** Of a 401 only these are about the bearer; a wrong password at sign_in is a tool's error. */
const BEARER_ERRORS = /^\{"error":"(missing_token|invalid_token|token_expired|token_revoked)"/

export function isAboutBearer({ status, body }: Answer): boolean {
  return status === 401 && BEARER_ERRORS.test(body)
}
