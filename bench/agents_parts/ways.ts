import { type Route, routes } from '#contract/routes.ts'
import { encode } from '#test/packages/gpt_tokenizer.ts'
import type { AgentTask } from './tasks.ts'

/** A way to reach the service: what a model reads first, and how it makes a call. */
export type Way = {
  name: string
  /** The description that the model must have read before its first call. */
  description: string
  call(operation: string, input: object): Promise<CallTexts>
}

/** The text that the model writes, the one it reads, and the result for the script. */
type CallTexts = { written: string; read: string; result: Record<string, unknown> }

export const tokensOf = (text: string): number => encode(text).length

type Account = { url: string; bearer: string }
type ToolResult = { content: { text: string }[]; structuredContent: Record<string, unknown> }

/** Hosts give a model names, descriptions and input schemas of tools, and the text of results. */
export async function mcpWay(account: Account): Promise<Way> {
  const listed = (await rpc(account, 'tools/list', {})) as { tools: Record<string, unknown>[] }
  const tools = listed.tools.map(({ name, description, inputSchema }) => {
    return { name, description, inputSchema }
  })
  return {
    name: 'MCP',
    description: JSON.stringify(tools),
    call: async (name, given) => {
      const tool_call = { name, arguments: given }
      const result = (await rpc(account, 'tools/call', tool_call)) as ToolResult
      const read = result.content.map(({ text }) => text).join('\n')
      return { written: JSON.stringify(tool_call), read, result: result.structuredContent }
    },
  }
}

async function rpc({ url, bearer }: Account, method: string, params: object): Promise<unknown> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result } = (await response.json()) as { result?: { isError?: boolean } }
  if (result === undefined || result.isError === true) {
    throw new Error(`${method} ${JSON.stringify(params)} failed: ${JSON.stringify(result)}`)
  }
  return result
}

/** A model that knows only the OpenAPI document writes requests and reads response bodies. */
export async function restWay({ url, bearer }: Account): Promise<Way> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as object
  return {
    name: 'REST',
    description: JSON.stringify(document),
    call: async (operation, input) => {
      const { line, method, path, body } = requestOf(operation, input)
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(body !== null && { 'content-type': 'application/json' }),
        },
        ...(body !== null && { body }),
      })
      const read = await response.text()
      if (!response.ok) throw new Error(`${line} failed: ${read}`)
      return { written: line, read, result: JSON.parse(read) as Record<string, unknown> }
    },
  }
}

function requestOf(operation: string, input: object) {
  const { method, path: template }: Route = routes[operation as keyof typeof routes]
  const rest = new Map(Object.entries(input as Record<string, unknown>))
  const filled = template.replace(/\{(\w+)\}/g, (_text, name: string) => {
    const value = String(rest.get(name))
    rest.delete(name)
    return value
  })
  const parameters = new URLSearchParams()
  if (method === 'GET') for (const [name, value] of rest) parameters.set(name, String(value))
  const query = parameters.size === 0 ? '' : `?${parameters}`
  const path = `/v1${filled}${query}`
  const body = method === 'GET' ? null : JSON.stringify(Object.fromEntries(rest))
  return { method, path, body, line: `${method} ${path}${body === null ? '' : `\n${body}`}` }
}

export type TaskCost = { calls: number; tokens: number }

/** Runs the script of a task and counts the texts of its calls. */
export async function costOf({ call }: Way, { steps }: AgentTask): Promise<TaskCost> {
  const results: Record<string, unknown>[] = []
  let tokens = 0
  for (const { operation, input } of steps) {
    const given = typeof input === 'function' ? input(results) : input
    const { written, read, result } = await call(operation, given)
    tokens += tokensOf(written) + tokensOf(read)
    results.push(result)
  }
  return { calls: steps.length, tokens }
}
