import type { Operation } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Response } from '#operations/call.ts'
import { handlerOf } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { contextOf, preparingContextOf } from './contexts.ts'
import type { Work } from './work.ts'

/** A read needs no transaction. */
export async function runRead(invocation: Invocation, { handler }: Work): Promise<Response> {
  const { runtime, operation, caller, input } = invocation
  const run =
    typeof handler === 'function'
      ? handler
      : await handler.prepare(preparingContextOf(invocation), input)
  const output = await run(contextOf(invocation, runtime.databaseOf(caller)), input)
  runtime.fail('before_reply')
  return successResponse(operation, JSON.stringify(output))
}

/** Reads another object for the caller of this call. */
export function readAsCaller(
  invocation: Invocation,
  name: OperationName,
  input: Record<string, unknown>,
): Promise<object> {
  const handler = handlerOf(name)
  if (typeof handler !== 'function') throw new Error(`${name} needs a preparation`)
  const { runtime, caller } = invocation
  return handler(contextOf(invocation, runtime.databaseOf(caller)), input)
}

export function successResponse({ status }: Operation, body: string): Response {
  return { status, problem_code: null, body: status === 204 ? '' : body, headers: {} }
}
