import assert from 'node:assert/strict'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { type Reply, send } from './http.ts'

/** The number of tools that an API key may call. */
export const KEY_TOOL_COUNT = Object.values<OperationShape>(operations).filter(
  ({ access }) => access === 'anyone' || access.api_key !== false,
).length

export type Rpc = {
  bearer?: string | undefined
  headers?: Record<string, string>
  id?: number | string | null
}

const BOTH = 'application/json, text/event-stream'

/** Sends one JSON-RPC message to the MCP server. */
export function rpc(
  url: string,
  method: string,
  params: object = {},
  { bearer, headers = {}, id = 1 }: Rpc = {},
): Promise<Reply> {
  const message = { jsonrpc: '2.0', method, params, ...(id !== null && { id }) }
  return send(url, 'POST', '/mcp', {
    bearer,
    headers: { accept: BOTH, ...headers },
    body: message,
  })
}

/** Headers of a client's requests after it declared these capabilities. */
export async function initialize(
  url: string,
  bearer: string,
  protocolVersion: string,
  capabilities: object,
): Promise<Record<string, string>> {
  const clientInfo = { name: 'client', version: '1' }
  const params = { protocolVersion, capabilities, clientInfo }
  const reply = await rpc(url, 'initialize', params, { bearer })
  assert.equal(reply.status, 200, reply.text)
  const session = reply.headers.get('mcp-session-id')
  const { protocolVersion: version } = reply.body['result'] as { protocolVersion: string }
  return {
    'mcp-protocol-version': version,
    ...(session !== null && { 'mcp-session-id': session }),
  }
}

export type ToolResult = {
  isError?: boolean
  content: { type: string; text: string }[]
  structuredContent: Record<string, unknown>
  _meta?: Record<string, unknown>
}

export async function callTool(
  url: string,
  name: string,
  given: object,
  bearer?: string,
): Promise<ToolResult> {
  const reply = await rpc(url, 'tools/call', { name, arguments: given }, { bearer })
  const { result } = resultIn(reply)
  if (reply.status !== 200 || result === undefined) throw new Error(`${reply.status} ${reply.text}`)
  return result
}

/** A long-running tool responds with a stream, whose last event is the result. */
function resultIn({ body, text, headers }: Reply): { result?: ToolResult } {
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return body
  return JSON.parse([...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? '{}')
}
