import { isWrite, type OAuthAccess, type OperationShape } from '#contract/operation.ts'
import { type OperationName, operations } from '#contract/operations.ts'
import { decimalFromMicros } from '#kernel/money.ts'
import type { X402Settings } from '#rails/x402/x402_settings.ts'
import { argumentOf, toolInput, toolOutput } from './tool_schema.ts'

/** The protocol's defaults are left out; a tool that only reads has no other hints. */
type Annotations =
  | { readOnlyHint: true }
  | { readOnlyHint: false; destructiveHint: boolean; idempotentHint?: true }

/** An operation as an MCP tool, derived from the contract. */
export type AgentTool = {
  name: OperationName
  title: string
  description: string
  inputSchema: object
  outputSchema: object
  annotations: Annotations
}

const free_tools: readonly AgentTool[] = Object.values<OperationShape>(operations).map((shape) => {
  const title = shape.summary.replace(/\.$/, '')
  return {
    name: shape.name as OperationName,
    title,
    description: shape.description,
    inputSchema: toolInput(shape),
    outputSchema: toolOutput(shape),
    annotations: annotationsOf(shape),
  }
})

function annotationsOf(shape: OperationShape): Annotations {
  const destructiveHint = shape.destructive === true
  // A GET with an effect, such as reveal_pan, must not be announced as read-only.
  if (!isWrite(shape) && !destructiveHint) return { readOnlyHint: true }
  const idempotent = shape.idempotent === true && ({ idempotentHint: true } as const)
  return { readOnlyHint: false, destructiveHint, ...idempotent }
}

/** The tools with their prices. */
export function agentTools({ prices }: X402Settings): readonly AgentTool[] {
  return free_tools.map((tool) => {
    const price = prices.get(tool.name)
    if (price === undefined) return tool
    const costs = `Each call costs ${decimalFromMicros(price)} USD (x402, USDC on Base).`
    return { ...tool, description: `${tool.description} ${costs}` }
  })
}

type HeaderArguments = Readonly<Record<string, string>>

/** Tool arguments that are HTTP headers in REST, per operation. */
export const header_arguments = Object.fromEntries(
  Object.values<OperationShape>(operations).map((shape) => [shape.name, headersOf(shape)]),
) as Readonly<Record<OperationName, HeaderArguments>>

function headersOf(shape: OperationShape): HeaderArguments {
  const names = Object.keys(shape.headers ?? {}).map((header) => [
    argumentOf(header),
    header.toLowerCase(),
  ])
  if (isWrite(shape)) names.push(['idempotency_key', 'idempotency-key'])
  return Object.fromEntries(names)
}

/**
 * The credential that a tool needs, as a sentence. The result of tools/list has only tools that the
 * caller may call, so it leaves this out.
 */
export function credentialFor(name: OperationName): string {
  const { access }: OperationShape = operations[name]
  if (access === 'anyone') return 'No credential required.'
  const { session, oauth } = access
  const who = session ? 'a session or an API key' : 'an API key'
  if (oauth === null) return `Requires ${access.api_key === false ? 'a session' : who}.`
  return `OAuth scope: ${scopesIn(oauth)}.`
}

function scopesIn(oauth: NonNullable<OAuthAccess>): string {
  return 'any' in oauth ? `one of ${oauth.any.join(', ')}` : oauth.all.join(' and ')
}
