import assert from 'node:assert/strict'
import type { Card } from '#contract/cards.ts'
import type { Transaction } from '#contract/transactions.ts'
import { type Holder, issueCard, openHolder } from './cards.ts'
import { type Reply, send } from './http.ts'
import type { TestService } from './start.ts'

type Service = Pick<TestService, 'url' | 'runtime'>

/** An account with a loaded card. */
export async function openSpender(
  service: Service,
  {
    usd = 100,
    treasury_usd = 0,
    ...body
  }: Record<string, unknown> & {
    usd?: number
    treasury_usd?: number
  } = {},
): Promise<Holder & { card: Card }> {
  const holder = await openHolder(service, usd + treasury_usd)
  const load = usd > 0 ? { load_usd: usd } : {}
  return { ...holder, card: await issueCard(service.url, holder.key, { ...load, ...body }) }
}

type Spender = { key: string; card: Pick<Card, 'id'> }

/** A purchase at a sandbox merchant. */
export async function authorize(
  url: string,
  { key, card }: Spender,
  body: Record<string, unknown>,
): Promise<Transaction> {
  return requireOk(await callSandbox(url, key, `cards/${card.id}/authorize`, body))
}

export async function forceCapture(
  url: string,
  { key, card }: Spender,
  body: Record<string, unknown>,
): Promise<Transaction> {
  return requireOk(await callSandbox(url, key, `cards/${card.id}/force_capture`, body))
}

type Verb = 'capture' | 'reverse' | 'expire' | 'refund'

/** A later message for a purchase. */
export async function follow(
  url: string,
  { key }: Pick<Spender, 'key'>,
  { id, verb, ...body }: { id: string; verb: Verb; amount?: number },
): Promise<Transaction> {
  return requireOk(await callSandbox(url, key, `transactions/${id}/${verb}`, body))
}

export function callSandbox(
  url: string,
  bearer: string,
  path: string,
  body: Record<string, unknown>,
): Promise<Reply> {
  return send(url, 'POST', `/sandbox/v1/${path}`, { bearer, body })
}

function requireOk(reply: Reply): Transaction {
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function getTransaction(url: string, bearer: string, id: string) {
  const reply = await send(url, 'GET', `/v1/transactions/${id}`, { bearer })
  return requireOk(reply)
}
