import { operations } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { serverCard } from '#doors/server_card.ts'
import { mayCall } from '#operations/steps/require_access.ts'
import type { Caller } from '#platform/context.ts'
import type { Exchange, Method } from './exchange.ts'
import { ProtocolError, RESOURCE_NOT_FOUND } from './protocol.ts'
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
    description: 'Every code that `error` can hold, its HTTP status, and what to do about it.',
    mimeType: 'text/markdown',
    isShown: () => true,
    read: () => errorTable(),
  },
  'florin://limits': {
    name: 'limits',
    title: 'Limits',
    description: 'What this credential may do, how often and how much: the answer of get_limits.',
    mimeType: 'application/json',
    isShown: (caller) => mayCall(operations.get_limits, caller),
    read: readLimits,
  },
  'mcp://server-card.json': {
    name: 'server_card',
    title: 'Server card',
    description: 'This server described for machines, with all 52 tools.',
    mimeType: 'application/json',
    isShown: () => true,
    read: ({ programme }) => serverCard(programme.settings),
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
  const known = typeof uri === 'string' && Object.hasOwn(resources, uri) ? resources[uri] : null
  if (!known)
    throw new ProtocolError(
      RESOURCE_NOT_FOUND,
      `There is no resource ${String(uri).slice(0, 200)}.`,
    )
  const text = await known.read(exchange)
  return JSON.stringify({ contents: [{ uri, mimeType: known.mimeType, text }] })
}

/** Through the pipeline like any other call, so that scopes and limits hold here too. */
async function readLimits(exchange: Exchange): Promise<string> {
  const answer = await runOperation(exchange, { name: 'get_limits', arguments: {}, meta: {} })
  if (answer.status >= 300) throw new HttpRefusal(answer, ['system:read'])
  return answer.body
}

/** What a status asks of whoever meets it. */
const advice: Readonly<Record<number, string>> = {
  400: 'The request is malformed. Correct what `details` names; the same request fails again.',
  401: 'The credential is missing, wrong or over. Authorize again.',
  402: 'The call has a price. Pay as PAYMENT-REQUIRED says and repeat it.',
  403: 'This credential may not do it. Ask the person for the scope, or leave it.',
  404: 'There is no such thing on this account, or this credential may not see it.',
  405: 'The method does not exist here.',
  409: 'Right request, wrong moment. Read the object again and decide anew.',
  410: 'It is over and does not come back.',
  413: 'Too large. Send less.',
  415: 'Send another type.',
  422: 'Well-formed, but the value is not acceptable. Choose another value.',
  429: 'Too often. Wait as long as Retry-After says, then repeat.',
  500: 'Our fault. Repeat once with the same idempotency_key, then tell the person.',
  502: 'The outside world failed. Repeat later with the same idempotency_key.',
  503: 'Not now. Repeat after Retry-After with the same idempotency_key.',
  504: 'The outside world was too slow. Repeat later with the same idempotency_key.',
}

function errorTable(): string {
  const rows = Object.entries(problem_statuses).map(
    ([code, status]) => `| ${code} | ${status} | ${advice[status] ?? ''} |`,
  )
  return `| error | status | what to do |\n|---|---|---|\n${rows.join('\n')}\n`
}
