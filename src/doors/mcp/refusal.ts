import type { ProblemCode } from '#contract/problem.ts'
import type { Scope } from '#contract/scopes.ts'
import type { Response } from '#operations/call.ts'

/** An error sent as an HTTP status instead of a JSON-RPC response, with the scopes to request. */
export class HttpRefusal extends Error {
  readonly response: Response
  /** The missing scopes; empty if no scope would help. */
  readonly needed: readonly Scope[]

  constructor(response: Response, needed: readonly Scope[] = []) {
    super('refused')
    this.response = response
    this.needed = needed
  }
}

/** The 401 codes about the credential; a wrong password in sign_in is a tool error instead. */
const BEARER_ERRORS: ReadonlySet<ProblemCode | null> = new Set([
  'missing_token',
  'invalid_token',
  'token_expired',
  'token_revoked',
])

export function isAboutBearer({ problem_code }: Response): boolean {
  return BEARER_ERRORS.has(problem_code)
}
