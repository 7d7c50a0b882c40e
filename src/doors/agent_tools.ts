import { isWrite, type OAuthAccess, type OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { ErrorBody } from '#contract/shapes.ts'
import { decimalFromMicros } from '#kernel/money.ts'
import type { X402Settings } from '#platform/x402_settings.ts'

/** An operation as an agent sees it. Everything is read off the contract. */
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
  // A read that uses something up, such as a reveal, is none for whoever decides to run it.
  const isRead = !isWrite(shape) && shape.destructive !== true
  return {
    name: shape.name as OperationName,
    title,
    description: shape.description + needs(shape),
    inputSchema: inputSchema(shape),
    // Strict clients check errors against it too, so an error is one of its shapes.
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

/** The tools of a programme, each with what a call of it costs. */
export function agentTools(x402: X402Settings): readonly AgentTool[] {
  let tools = priced_tools.get(x402)
  if (tools === undefined) {
    tools = free_tools.map((tool) => {
      const price = x402.prices.get(tool.name)
      if (price === undefined) return tool
      const costs = `A call costs ${decimalFromMicros(price)} USD, paid with x402 in USDC on Base.`
      return { ...tool, description: `${tool.description} ${costs}` }
    })
    priced_tools.set(x402, tools)
  }
  return tools
}

type HeaderArguments = Readonly<Record<string, string>>

/** Arguments that are headers over HTTP, by their names as arguments; of each operation. */
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
        'Any text of your own, new for each thing you want done. Repeat a call that got no ' +
        'answer with the same key, and it is done once.',
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

/** As plain JSON, without the marks that only our own checks read. */
function plain(schema: object): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key.startsWith('x-') ? undefined : value,
  )
  return JSON.parse(text) as object
}

function needs({ access }: OperationShape): string {
  if (access === 'anyone') return ' Needs no credential.'
  const { session, oauth } = access
  const who = session ? 'a session or an API key' : 'an API key'
  if (oauth === null) return ` Needs ${access.api_key === false ? 'a session' : who}.`
  return ` An agent needs ${scopesIn(oauth)}.`
}

function scopesIn(oauth: NonNullable<OAuthAccess>): string {
  return 'any' in oauth ? `one of ${oauth.any.join(', ')}` : oauth.all.join(' and ')
}
