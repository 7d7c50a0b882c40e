import type { PipelineOperationName } from '#contract/operator/operations.ts'
import type { ProblemCode } from '#contract/problem.ts'
import type { RequestContext } from '#domain/context/context.ts'
import type { ResourceName } from '#domain/credentials/resource.ts'

/** A call as a door receives it; nothing in it has been checked. */
export type Call = {
  operation: PipelineOperationName
  bearer: string | null
  /** The resource an OAuth token must have been issued for (default: the REST API). */
  resource?: ResourceName
  /** Steps complete it, so each call has its own. */
  request: RequestContext
  /** True for calls of the sandbox controls: they are never charged. */
  is_free?: boolean
  /** True if this is one cell's part of a call that was counted already. */
  is_part?: boolean
  /** Returns the input as one flat object, or a promise of it. May throw a Problem. */
  readInput(): unknown
}

/** The outcome of a call, for the door to send in its own protocol. */
export type Response = {
  status: number
  /** Null if the call succeeded. */
  problem_code: ProblemCode | null
  /** JSON, or empty if there is no body. */
  body: string
  headers: Record<string, string>
}
