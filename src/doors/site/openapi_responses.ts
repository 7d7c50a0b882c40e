import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import { type ProblemCode, problem_statuses } from '#contract/problem.ts'
import { amountFields } from '#operations/steps/amount_fields.ts'
import { takesIdempotencyKey } from './openapi_requests.ts'
import { type JsonObject, refTo, schemaOrRef } from './openapi_schemas.ts'

const every_response = ['Request-Id', 'RateLimit-Policy', 'RateLimit'] as const

const header = (description: string, example: string | number, type = 'string'): JsonObject => ({
  description,
  schema: { type },
  example,
})

export const shared_headers: JsonObject = {
  'Request-Id': header(
    'ID of the request. Include it when you contact support.',
    'req_01kc3z8e5xf8m9r4t2v6w7y8za',
  ),
  'RateLimit-Policy': header(
    'Rate limits of this credential: q calls in w seconds.',
    '"burst";q=60;w=1, "sustained";q=1000;w=60',
  ),
  RateLimit: header(
    'Calls left (r) and seconds until the limit resets (t).',
    '"sustained";r=998;t=42',
  ),
  'Retry-After': header('Seconds to wait before trying again.', 1, 'integer'),
  'Idempotent-Replayed': header(
    'True if this is the stored response of an earlier request.',
    'true',
  ),
  'Cache-Control': header('Do not store this response.', 'no-store'),
  'PAYMENT-REQUIRED': header(
    'How to pay for this call (x402, base64 JSON): scheme, network, asset, amount.',
    'eyJ4NDAyVmVyc2lvbiI6Mn0=',
  ),
  'PAYMENT-RESPONSE': header(
    'Receipt of the payment (x402, base64 JSON) for a paid call.',
    'eyJzdWNjZXNzIjp0cnVlfQ==',
  ),
}

const headersOf = (names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]))

export function responsesOf(shape: OperationShape): JsonObject {
  const responses: JsonObject = { [shape.status]: successOf(shape) }
  for (const [status, codes] of problemsByStatus(shape)) {
    const shared = http_layer_responses[status] ?? shared_names.get(codes.join())
    responses[status] =
      shared === undefined ? problemResponse(status, codes) : refTo('responses', shared)
  }
  return responses
}

/** Errors of the HTTP layer, before an operation is known, by response name. */
const http_layer_responses: Readonly<Record<number, string>> = {
  408: 'RequestTimeout',
  431: 'HeadersTooLarge',
}

/** Error codes by status; only `invalid_request` is used with several statuses. */
export function problemsByStatus(shape: OperationShape): Map<number, ProblemCode[]> {
  const codes_by_status = new Map<number, ProblemCode[]>()
  const add = (status: number, code: ProblemCode) =>
    codes_by_status.set(status, [...(codes_by_status.get(status) ?? []), code])
  for (const code of problemCodesOf(shape)) add(problem_statuses[code], code)
  for (const status of Object.keys(http_layer_responses)) add(Number(status), 'invalid_request')
  if (shape.rejects_values) add(422, 'invalid_request')
  return new Map([...codes_by_status].sort(([a], [b]) => a - b))
}

const success_descriptions: Readonly<Record<OperationShape['status'], string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success.',
}

function successOf(shape: OperationShape): JsonObject {
  const headers: string[] = [...every_response, 'PAYMENT-RESPONSE']
  if (shape.never_stored) headers.push('Cache-Control')
  else if (takesIdempotencyKey(shape)) headers.push('Idempotent-Replayed')
  const description = success_descriptions[shape.status]
  if (shape.status === 204) return { description, headers: headersOf(headers) }
  return {
    description,
    headers: headersOf(headers),
    content: { 'application/json': { schema: schemaOrRef(shape.output) } },
  }
}

/** Every error code of the operation, in the order of `problem_statuses`. */
export function problemCodesOf(shape: OperationShape): ProblemCode[] {
  const codes = new Set<ProblemCode>([
    'invalid_request',
    'unknown_parameter',
    ...shared_problems['PaymentRequired'],
    'payment_invalid',
    ...shared_problems['RateLimited'],
    ...shared_problems['InternalError'],
    ...shared_problems['Unavailable'],
    ...(shape.problems ?? []),
  ])
  const add = (...more: readonly ProblemCode[]) => {
    for (const code of more) codes.add(code)
  }
  if (shape.access !== 'anyone') add(...shared_problems['Unauthorized'], ...forbidden)
  if (pathNames(shape.path).length > 0) add('not_found')
  if (takesIdempotencyKey(shape)) add('invalid_idempotency_key')
  if (takesIdempotencyKey(shape) && !shape.never_stored) {
    add('idempotency_in_progress', 'idempotency_key_reused')
  }
  if (inputLocation(shape) === 'body') {
    add('invalid_json', 'payload_too_large', 'unsupported_media_type')
    if (amountFields(shape.input).length > 0) add('invalid_amount', 'amount_out_of_range')
  }
  return (Object.keys(problem_statuses) as ProblemCode[]).filter((code) => codes.has(code))
}

const forbidden = [
  'insufficient_scope',
  'policy_denied',
  'credential_not_allowed',
  'account_suspended',
] as const satisfies readonly ProblemCode[]

/** Responses shared by many operations, by name. */
const shared_problems = {
  Unauthorized: ['missing_token', 'invalid_token', 'token_expired', 'token_revoked'],
  PaymentRequired: ['payment_required', 'payment_failed'],
  Forbidden: forbidden,
  NotFound: ['not_found'],
  PayloadTooLarge: ['payload_too_large'],
  UnsupportedMediaType: ['unsupported_media_type'],
  IdempotencyInProgress: ['idempotency_in_progress'],
  IdempotencyKeyReused: ['idempotency_key_reused'],
  RateLimited: ['rate_limited'],
  InternalError: ['internal_error'],
  Unavailable: ['service_unavailable', 'maintenance'],
} as const satisfies Readonly<Record<string, readonly ProblemCode[]>>

const shared_names = new Map<string, string>(
  Object.entries(shared_problems).map(([name, codes]) => [codes.join(), name]),
)

/** Descriptions of the statuses; the error codes are listed after them. */
export const status_meanings: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'Authentication failed',
  402: 'Payment required; pay and retry',
  403: 'Not allowed with this credential',
  404: 'Does not exist, or belongs to another account',
  408: 'The request timed out',
  409: 'Conflicts with the current state',
  410: 'No longer available',
  413: 'Too large',
  415: 'Unsupported content type',
  422: 'A value is not acceptable',
  429: 'Too many requests; wait and retry',
  431: 'Headers or query too large',
  500: 'Server error',
  502: 'An external system failed',
  503: 'Temporarily unavailable; wait and retry',
  504: 'An external system timed out',
}

const retryable_codes: ReadonlySet<ProblemCode> = new Set([
  'idempotency_in_progress',
  'rate_limited',
  'reveal_limit_exceeded',
  'too_many_attempts',
  'service_unavailable',
  'kill_switch_active',
  'maintenance',
])

function problemResponse(status: number, codes: readonly ProblemCode[]): JsonObject {
  const headers: string[] = [...every_response]
  if (codes.some((code) => retryable_codes.has(code))) headers.push('Retry-After')
  if (status === 402) headers.push('PAYMENT-REQUIRED')
  return {
    description: `${status_meanings[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: headersOf(headers),
    content: { 'application/json': { schema: refTo('schemas', 'Error') } },
  }
}

export const shared_responses: JsonObject = {
  ...Object.fromEntries(
    Object.entries(shared_problems).map(([name, codes]) => [
      name,
      problemResponse(problem_statuses[codes[0]], codes),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(http_layer_responses).map(([status, name]) => [
      name,
      problemResponse(Number(status), ['invalid_request']),
    ]),
  ),
}
