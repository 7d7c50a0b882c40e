import { randomUUID } from 'node:crypto'
import type { Answer, Call, Input, OperationName } from './call.ts'

/** The same operation as a tool call of the MCP server. */
export function mcpCall(name: OperationName, input: Input, bearer: string): Call {
  const isRead = /^(get|list|filter)_/.test(name) || name === 'reveal_pan'
  const keyed = isRead ? input : { ...input, idempotency_key: randomUUID() }
  return {
    name,
    method: 'POST',
    path: '/mcp',
    bearer: bearer || undefined,
    headers: { accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: keyed },
    },
  }
}

type ToolResult = { isError?: boolean; structuredContent?: Record<string, unknown> }

/** Failures that decide nothing, as a 5xx over REST. */
const UNDECIDED = new Set([
  'internal_error',
  'service_unavailable',
  'upstream_error',
  'upstream_timeout',
])

/** The result of a tool in the form of a REST answer; its status is 200, 400 or 503. */
export function answerOfTool(answer: Answer): Answer {
  const result = answer.body['result'] as ToolResult | undefined
  // Without a result or a refusal nothing was acknowledged.
  if (result === undefined) return { ...answer, status: answer.status < 300 ? 503 : answer.status }
  const body = result.structuredContent ?? {}
  if (result.isError !== true) return { ...answer, status: 200, body }
  return { ...answer, status: UNDECIDED.has(String(body['error'])) ? 503 : 400, body }
}
