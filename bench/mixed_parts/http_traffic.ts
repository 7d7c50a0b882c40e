import { randomUUID } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { Holder } from './population.ts'

export type HttpKind = 'REST read' | 'REST write' | 'MCP'
type Request = { method: 'GET' | 'POST' | 'PATCH'; path: string; body?: object }

const reads: readonly ((holder: Holder) => string)[] = [
  () => '/v1/accounts/me',
  () => '/v1/balance',
  () => '/v1/transactions?limit=20',
  ({ card_id }) => `/v1/cards/${card_id}`,
]

const writes: readonly ((holder: Holder) => Request)[] = [
  ({ card_id }) => ({
    method: 'POST',
    path: `/v1/cards/${card_id}/load`,
    body: { amount_usd: 1 },
  }),
  ({ card_id }) => ({
    method: 'POST',
    path: `/v1/cards/${card_id}/unload`,
    body: { amount_usd: 1 },
  }),
  ({ card_id }) => ({
    method: 'PATCH',
    path: `/v1/cards/${card_id}/limits`,
    body: { daily_usd: 5_000 },
  }),
]

const tools: readonly ((holder: Holder) => { name: string; arguments: object })[] = [
  () => ({ name: 'get_balance', arguments: {} }),
  () => ({ name: 'list_transactions', arguments: { limit: 10 } }),
  ({ card_id }) => ({ name: 'get_card', arguments: { id: card_id } }),
]

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item

function requestOf(kind: HttpKind, holder: Holder, random: () => number): Request {
  if (kind === 'REST read') return { method: 'GET', path: pick(reads, random)(holder) }
  if (kind === 'REST write') return pick(writes, random)(holder)
  const params = pick(tools, random)(holder)
  return {
    method: 'POST',
    path: '/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  }
}

/** Sends a call; resolves with what went wrong, or null. */
export async function sendHttp(
  client: Dispatcher,
  kind: HttpKind,
  { holder, random }: { holder: Holder; random: () => number },
): Promise<string | null> {
  const { method, path, body } = requestOf(kind, holder, random)
  const response = await client.request({
    method,
    path,
    headers: {
      authorization: `Bearer ${holder.key}`,
      accept: 'application/json, text/event-stream',
      ...(method !== 'GET' && {
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.body.text()
  if (response.statusCode >= 300)
    return `${method} ${path}: ${response.statusCode} ${text.slice(0, 200)}`
  return kind === 'MCP' && text.includes('"isError":true') ? `MCP: ${text.slice(0, 200)}` : null
}
