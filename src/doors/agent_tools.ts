import { isWrite, type OAuthAccess, type OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { ErrorBody } from '#contract/shapes.ts'
import { decimalFromMicros } from '#kernel/money.ts'
import type { X402Settings } from '#rails/x402/x402_settings.ts'

/** An operation as an MCP tool, derived from the contract. */
export type AgentTool = {
  name: OperationName
  title: string
  description: string
  inputSchema: object
  outputSchema: object
  annotations: {
    title: string
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
  }
}

const free_tools: readonly AgentTool[] = Object.values<OperationShape>(operations).map((shape) => {
  const title = shape.summary.replace(/\.$/, '')
  // A GET with an effect, such as reveal_pan, must not be announced as read-only.
  const isRead = !isWrite(shape) && shape.destructive !== true
  return {
    name: shape.name as OperationName,
    title,
    description: shape.description + needs(shape),
    inputSchema: inputSchema(shape),
    // Strict clients also validate errors against it, so the error body is one of its variants.
    outputSchema: plain({ type: 'object', anyOf: [shape.output, ErrorBody] }),
    annotations: {
      title,
      readOnlyHint: isRead,
      destructiveHint: shape.destructive === true,
      idempotentHint: isRead || shape.idempotent === true,
    },
  }
})

const priced_tools = new WeakMap<X402Settings, readonly AgentTool[]>()

/** The tools with their prices. */
export function agentTools(x402: X402Settings): readonly AgentTool[] {
  let tools = priced_tools.get(x402)
  if (tools === undefined) {
    tools = free_tools.map((tool) => {
      const price = x402.prices.get(tool.name)
      if (price === undefined) return tool
      const costs = `Each call costs ${decimalFromMicros(price)} USD (x402, USDC on Base).`
      return { ...tool, description: `${tool.description} ${costs}` }
    })
    priced_tools.set(x402, tools)
  }
  return tools
}

type HeaderArguments = Readonly<Record<string, string>>

/** Tool arguments that are HTTP headers in REST, per operation. */
export const header_arguments = Object.fromEntries(
  Object.values<OperationShape>(operations).map((shape) => [shape.name, headersOf(shape)]),
) as Readonly<Record<OperationName, HeaderArguments>>

function headersOf(shape: OperationShape): HeaderArguments {
  const names = Object.keys(shape.headers ?? {}).map((header) => [
    header.toLowerCase().replaceAll('-', '_'),
    header.toLowerCase(),
  ])
  if (isWrite(shape)) names.push(['idempotency_key', 'idempotency-key'])
  return Object.fromEntries(names)
}

function inputSchema(shape: OperationShape): object {
  const properties: Record<string, unknown> = { ...shape.input.properties }
  for (const [header, description] of Object.entries(shape.headers ?? {})) {
    const name = header.toLowerCase().replaceAll('-', '_')
    properties[name] = { type: 'string', description }
  }
  if (isWrite(shape)) {
    properties['idempotency_key'] = {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'A unique value for each new action. If a call times out, retry with the same key: the ' +
        'action happens only once.',
    }
  }
  const required = (shape.input as { required?: string[] }).required ?? []
  return plain({
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  })
}

/** Plain JSON Schema, without our own x- keywords. */
function plain(schema: object): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key.startsWith('x-') ? undefined : value,
  )
  return JSON.parse(text) as object
}

function needs({ access }: OperationShape): string {
  if (access === 'anyone') return ' No credential required.'
  const { session, oauth } = access
  const who = session ? 'a session or an API key' : 'an API key'
  if (oauth === null) return ` Requires ${access.api_key === false ? 'a session' : who}.`
  return ` OAuth scope: ${scopesIn(oauth)}.`
}

function scopesIn(oauth: NonNullable<OAuthAccess>): string {
  return 'any' in oauth ? `one of ${oauth.any.join(', ')}` : oauth.all.join(' and ')
}
