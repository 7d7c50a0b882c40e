import { type Reply, send } from './http.ts'

export type Rpc = {
  bearer?: string | undefined
  headers?: Record<string, string>
  id?: number | string | null
}

const BOTH = 'application/json, text/event-stream'

/** One message to the agent-tool server, by hand. */
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
  const { status, body, text } = await rpc(
    url,
    'tools/call',
    { name, arguments: given },
    { bearer },
  )
  if (status !== 200 || body['result'] === undefined) throw new Error(`${status} ${text}`)
  return body['result'] as ToolResult
}
