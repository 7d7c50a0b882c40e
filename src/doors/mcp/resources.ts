import { operations } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import { serverCard } from '#doors/server_card.ts'
import { mayCall } from '#operations/steps/require_access.ts'
import type { Exchange, Method } from './exchange.ts'
import { INVALID_PARAMS, ProtocolError, RESOURCE_NOT_FOUND } from './protocol.ts'
import { HttpRefusal } from './refusal.ts'
import { runOperation } from './run_operation.ts'

type Resource = {
  name: string
  title: string
  description: string
  mimeType: string
  isShown(caller: Caller): boolean
  read(exchange: Exchange): string | Promise<string>
}

const resources: Readonly<Record<string, Resource>> = {
  'florin://errors': {
    name: 'errors',
    title: 'Error codes',
    description: 'Every error code with its HTTP status and what to do about it.',
    mimeType: 'text/markdown',
    isShown: () => true,
    read: () => errorTable(),
  },
  'florin://limits': {
    name: 'limits',
    title: 'Limits',
    description:
      'Rate limits, amount limits and scopes of this credential (the response of get_limits).',
    mimeType: 'application/json',
    isShown: (caller) => mayCall(operations.get_limits, caller),
    read: readLimits,
  },
  'mcp://server-card.json': {
    name: 'server_card',
    title: 'Server card',
    description: 'Machine-readable description of this server with all tools.',
    mimeType: 'application/json',
    isShown: () => true,
    read: ({ runtime }) => serverCard(runtime.settings),
  },
}

export const listResources: Method = (_exchange, _params, caller) =>
  JSON.stringify({
    resources: Object.entries(resources)
      .filter(([, resource]) => resource.isShown(caller))
      .map(([uri, { name, title, description, mimeType }]) => ({
        uri,
        name,
        title,
        description,
        mimeType,
      })),
  })

export const listResourceTemplates: Method = () => '{"resourceTemplates":[]}'

export const readResource: Method = async (exchange, { uri }) => {
  if (typeof uri !== 'string') throw new ProtocolError(INVALID_PARAMS, 'uri must be a string.')
  const known = Object.hasOwn(resources, uri) ? resources[uri] : undefined
  if (known === undefined) {
    throw new ProtocolError(RESOURCE_NOT_FOUND, `Unknown resource: ${uri.slice(0, 200)}.`)
  }
  const text = await known.read(exchange)
  return JSON.stringify({ contents: [{ uri, mimeType: known.mimeType, text }] })
}

/** Runs through the pipeline like any other call, so scopes and rate limits apply. */
async function readLimits(exchange: Exchange): Promise<string> {
  const answer = await runOperation(exchange, { name: 'get_limits', arguments: {}, meta: {} })
  if (answer.status >= 300) throw new HttpRefusal(answer, ['system:read'])
  return answer.body
}

/** The next step for each HTTP status, for models. */
const advice: Readonly<Record<number, string>> = {
  400: 'The request is not valid. Fix the fields in `details`; an identical retry fails again.',
  401: 'The credential is missing, invalid or expired. Authorize again.',
  402: 'The call has a price. Pay as `accepts` describes, then retry.',
  403: 'Not allowed with this credential. Ask the user for the scope, or stop.',
  404: 'Does not exist in this account, or this credential cannot see it.',
  405: 'The method is not supported here.',
  409: 'Conflicts with the current state. Read the object again before you decide.',
  410: 'No longer available. Do not retry.',
  413: 'Too large. Send less data.',
  415: 'Unsupported content type. Send a supported one.',
  422: 'A value is not acceptable. Choose another one.',
  429: 'Too many requests. Wait `florin/retry_after_s` seconds, then retry.',
  500: 'Server error. Retry once with the same idempotency_key, then tell the user.',
  502: 'An external system failed. Retry later with the same idempotency_key.',
  503: 'Temporarily unavailable. Retry after `florin/retry_after_s` with the same idempotency_key.',
  504: 'An external system timed out. Retry later with the same idempotency_key.',
}

function errorTable(): string {
  const rows = Object.entries(problem_statuses).map(
    ([code, status]) => `| ${code} | ${status} | ${advice[status] ?? ''} |`,
  )
  return `| error | status | what to do |\n|---|---|---|\n${rows.join('\n')}\n`
}
