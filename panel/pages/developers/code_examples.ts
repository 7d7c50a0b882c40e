import { buildRequest } from '#client/request.ts'
import { pathNames } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { type Route, routes } from '#contract/routes.ts'

type RequestExample = { name: OperationName; input: Record<string, unknown>; origin: string }

/** The same request as curl, client and MCP code. The API client builds method and URL. */
export function toCurl({ name, input, origin }: RequestExample): string {
  const route: Route = routes[name]
  const { method, target, createBody } = buildRequest(route, withPlaceholders(route, input))
  const body = createBody?.()
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoteShell(origin + target)}`,
    `  -H "Authorization: Bearer $FLORIN_KEY"`,
    ...(method === 'GET' || method === 'DELETE' ? [] : [`  -H "Idempotency-Key: $(uuidgen)"`]),
    ...(typeof body === 'string'
      ? [`  -H 'Content-Type: application/json'`, `  -d ${quoteShell(body)}`]
      : []),
  ]
  return lines.join(' \\\n')
}

export function toClientCode({ name, input, origin }: RequestExample): string {
  const said = Object.keys(input).length === 0 ? '' : JSON.stringify(input, null, 2)
  return [
    `const florin = createClient({ url: '${origin}', bearer: process.env.FLORIN_KEY })`,
    `const response = await florin.${name}(${said})`,
  ].join('\n')
}

export function toMcpCall({ name, input }: RequestExample): string {
  const params = { name, arguments: input }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, null, 2)
}

/** Fills missing path parameters, so that the example shows the whole path. */
function withPlaceholders(route: Route, input: Record<string, unknown>) {
  const missing = pathNames(route.path).map((name) => [name, name.toUpperCase()])
  return { ...Object.fromEntries(missing), ...input }
}

const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
