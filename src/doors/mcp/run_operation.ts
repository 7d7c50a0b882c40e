import type { OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { problem_meanings } from '#contract/problem_meanings.ts'
import { header_arguments } from '#doors/agent_tools.ts'
import type { Call, Response } from '#operations/call.ts'
import { invoke } from '#operations/invoke.ts'
import type { Exchange, ToolCall } from './exchange.ts'
import { isObject } from './protocol.ts'
import { inToolTerms, refusalInToolTerms } from './tool_terms.ts'

/** Defined like this, "__proto__" is a field as any other, and a step can still remove a field. */
const ORDINARY = { enumerable: true, writable: true, configurable: true } as const

const operationOf = ({ name }: ToolCall) => name as OperationName

/** Runs the same pipeline as REST; HTTP headers are tool arguments here. */
export async function runOperation(
  { runtime, request_context, bearer }: Exchange,
  tool_call: ToolCall,
  onStart: () => void = () => undefined,
): Promise<Response> {
  const operation = operationOf(tool_call)
  const { arguments: given, meta } = tool_call
  const headers = header_arguments[operation]
  const input: Record<string, unknown> = {}
  const header_values: Record<string, unknown> = {}
  for (const name of Object.keys(given)) {
    const value = given[name]
    const header = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (header !== undefined) header_values[header] = value
    else Object.defineProperty(input, name, { value, ...ORDINARY })
  }
  const payment = meta['x402/payment']
  if (isObject(payment)) header_values['payment-signature'] = paymentHeader(payment)
  const call: Call = {
    operation,
    bearer,
    resource: 'mcp',
    request: withHeaders(request_context, header_values),
    readInput: () => {
      onStart()
      return input
    },
  }
  return refusalInToolTerms(await invoke(runtime, call), tool_call)
}

/** The maximum length of an HTTP header. */
const PAYMENT_LENGTH_MAX = 16_384

/** An overlong payment is replaced by an invalid one and refused if the call has a price. */
function paymentHeader(payment: Record<string, unknown>): string {
  if (textLengthOf(payment) > PAYMENT_LENGTH_MAX) return 'too long'
  return Buffer.from(JSON.stringify(payment)).toString('base64')
}

function textLengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  return Object.entries(value).reduce(
    (sum, [name, one]) => sum + name.length + textLengthOf(one),
    0,
  )
}

type HeaderValues = Readonly<Record<string, unknown>>

function withHeaders(
  request_context: Call['request'],
  header_values: HeaderValues,
): Call['request'] {
  for (const _name in header_values) {
    return {
      ...request_context,
      header: (name) => textOf(header_values, name) ?? request_context.header(name),
    }
  }
  return request_context
}

function textOf(header_values: HeaderValues, name: string): string | null {
  const value = Object.hasOwn(header_values, name) ? header_values[name] : null
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  const field = name.replaceAll('-', '_')
  throw new Problem('invalid_request', `${field} must be a string.`, {
    details: [{ field, message: 'must be a string' }],
  })
}

/** The pipeline's response as a tool result; an error body goes in the same places. */
export function toolResult(call: ToolCall, response: Response): string {
  const { status, body, headers } = response
  const structured = body === '' ? '{}' : withRequirement(body, headers)
  const shape: OperationShape = operations[operationOf(call)]
  const text = status < 300 ? shownText(shape, structured) : structured
  return JSON.stringify({
    content: [{ type: 'text', text }, ...nextStep(call, response)],
    structuredContent: JSON.parse(structured),
    ...(status >= 300 && { isError: true }),
    _meta: metaOf(headers),
  })
}

/** A second text for the model: what the error code means and what to do about it. */
function nextStep(call: ToolCall, { problem_code }: Response): object[] {
  if (problem_code === null) return []
  return [{ type: 'text', text: inToolTerms(problem_meanings[problem_code], call) }]
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8')

/** Puts the payment requirement beside the error, where x402 clients look for it. */
function withRequirement(body: string, headers: Record<string, string>): string {
  const required = headers['PAYMENT-REQUIRED']
  if (required === undefined) return body
  const { error: _sentence, ...rest } = JSON.parse(fromBase64(required)) as Record<string, unknown>
  return JSON.stringify({ ...rest, ...(JSON.parse(body) as object) })
}

/** Masked in the text, which models and transcripts keep; programs read structuredContent. */
const MASKED: Readonly<Record<string, (value: string) => string>> = {
  pan: (pan) => pan.slice(0, 6) + '*'.repeat(Math.max(0, pan.length - 10)) + pan.slice(-4),
  cvv: (cvv) => '*'.repeat(cvv.length),
}

function shownText({ name }: OperationShape, body: string): string {
  if (name !== 'reveal_pan') return body
  return JSON.stringify(JSON.parse(body), (key, value: unknown) => {
    const mask = Object.hasOwn(MASKED, key) ? MASKED[key] : undefined
    return mask !== undefined && typeof value === 'string' ? mask(value) : value
  })
}

/** MCP clients cannot see HTTP headers, so those they act on are repeated in _meta. */
function metaOf(headers: Record<string, string>): object | undefined {
  const wait_s = headers['Retry-After']
  const replayed = headers['Idempotent-Replayed']
  const payment = headers['PAYMENT-RESPONSE']
  if (wait_s === undefined && replayed === undefined && payment === undefined) return
  return {
    ...(wait_s !== undefined && { 'florin/retry_after_s': Number(wait_s) }),
    ...(replayed !== undefined && { 'florin/idempotent_replayed': true }),
    ...(payment !== undefined && { 'x402/payment-response': JSON.parse(fromBase64(payment)) }),
  }
}
