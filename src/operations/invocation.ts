import type { Operation } from '#contract/operation.ts'
import { pipeline_operations } from '#contract/operator/operations.ts'
import type { Problem } from '#contract/problem.ts'
import type { Caller, RequestContext } from '#domain/context/context.ts'
import type { Operator } from '#domain/operators/operator.ts'
import type { RatePolicy, RateVerdict } from '#domain/risk/rate_limit.ts'
import type { Call } from './call.ts'
import type { Runtime } from './runtime.ts'

/** A call on its way through the pipeline. Each step adds its result. */
export type Invocation = {
  readonly runtime: Runtime
  readonly call: Call
  readonly operation: Operation
  readonly request: RequestContext
  /** The account's credential; null for operators and for operations open to anyone. */
  caller: Caller | null
  operator: Operator | null
  /** Null until the call is counted. */
  rate: CountedRate | null
  input: Record<string, unknown>
  /** The reason why the input cannot be accepted, if that is stored under the Idempotency-Key. */
  refusal: Problem | null
  /** Headers of the response, whatever its outcome. */
  headers: Record<string, string>
}

/** The key that calls are counted under, and its limits. */
export type RateSubject = { key: string; policies: readonly RatePolicy[] }

export type CountedRate = { subject: RateSubject; verdict: RateVerdict }

/** Checks or prepares a call; throws a Problem to refuse it. */
export type Step = (invocation: Invocation) => void | Promise<void>

export function makeInvocation(runtime: Runtime, call: Call): Invocation {
  return {
    runtime,
    call,
    operation: pipeline_operations[call.operation],
    request: call.request,
    caller: null,
    operator: null,
    rate: null,
    input: {},
    refusal: null,
    headers: {},
  }
}
