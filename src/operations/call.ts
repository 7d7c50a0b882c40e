import type { OperationName } from '#contract/operations.ts'
import type { RequestContext } from '#domain/context/context.ts'
import type { ResourceName } from '#domain/credentials/resource.ts'

/** A call as a door hands it in, before anything of it is believed. */
export type Call = {
  operation: OperationName
  bearer: string | null
  /** What an OAuth token must have been made for; the REST API where nothing is said. */
  resource?: ResourceName
  request: Omit<RequestContext, 'idempotency_key'>
  /** Made by the house itself, such as the sandbox's controls: nobody is charged for it. */
  is_free?: boolean
  /**
   * The input as one flat object, or the promise of it. Called once the caller is known; may throw
   * a Problem.
   */
  readInput(): unknown
}

/** What a door sends back, in its own way. The body is JSON text; empty where there is none. */
export type Answer = {
  status: number
  body: string
  headers: Record<string, string>
}
