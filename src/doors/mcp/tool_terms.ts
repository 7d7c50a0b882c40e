import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import type { ProblemDetail } from '#contract/problem.ts'
import { argumentOf } from '#doors/tool_schema.ts'
import type { Response } from '#operations/call.ts'
import type { ToolCall } from './exchange.ts'

const headers = Object.values<OperationShape>(operations).flatMap((shape) =>
  Object.keys(shape.headers ?? {}),
)

/** Names of REST in the pipeline's sentences, and their names for tools. */
const terms: ReadonlyMap<string, string> = new Map([
  ...['Idempotency-Key', ...headers].map((header) => [header, argumentOf(header)] as const),
  ['query parameter', 'argument'],
  ['Retry-After', 'florin/retry_after_s'],
  ['PAYMENT-REQUIRED', 'accepts'],
])

const rest_terms = new RegExp([...terms.keys()].join('|'), 'g')

/** An argument that was sent under such a name is unknown, and its refusal has to name it. */
export const inToolTerms = (text: string, { arguments: given }: ToolCall): string =>
  text.replace(rest_terms, (term) =>
    Object.hasOwn(given, term) ? term : (terms.get(term) ?? term),
  )

type ErrorBody = { message: string; details?: readonly ProblemDetail[] }

/** The sentences of a refusal in the terms of tools; the stored ones are also for REST. */
export function refusalInToolTerms(response: Response, call: ToolCall): Response {
  if (response.problem_code === null || response.body.search(rest_terms) < 0) return response
  const body = JSON.parse(response.body) as ErrorBody
  const details = body.details?.map(({ field, message }) => ({
    field: inToolTerms(field, call),
    message: inToolTerms(message, call),
  }))
  const message = inToolTerms(body.message, call)
  return { ...response, body: JSON.stringify({ ...body, message, ...(details && { details }) }) }
}
