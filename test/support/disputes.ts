import assert from 'node:assert/strict'
import type { Dispute } from '#contract/disputes.ts'
import type { Transaction } from '#contract/transactions.ts'
import { type Reply, type RequestOptions, send } from './http.ts'
import { authorize, follow, openSpender } from './spending.ts'
import type { TestService } from './start.ts'

type Service = Pick<TestService, 'url' | 'runtime'>
export type Buyer = Awaited<ReturnType<typeof openSpender>> & { capture: Transaction }

/** An account with a captured purchase at a sandbox merchant. */
export async function openBuyer(service: Service, amount = 40, usd = 100): Promise<Buyer> {
  const spender = await openSpender(service, { usd })
  const held = await authorize(service.url, spender, { amount, merchant_name: 'Corner Books' })
  const capture = await follow(service.url, spender, { id: held.id, verb: 'capture' })
  return { ...spender, capture }
}

export function file(
  url: string,
  { key, capture }: Buyer,
  body: object = {},
  sent: RequestOptions = {},
) {
  return send(url, 'POST', '/v1/disputes', {
    bearer: key,
    body: {
      transaction_id: capture.id,
      reason: 'not_received',
      explanation: 'It never came.',
      ...body,
    },
    ...sent,
  })
}

export async function fileDispute(url: string, buyer: Buyer, body: object = {}): Promise<Dispute> {
  const reply = await file(url, buyer, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

export async function getDispute(url: string, bearer: string, id: string): Promise<Dispute> {
  const reply = await send(url, 'GET', `/v1/disputes/${id}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Adds evidence as JSON, unless other headers and bytes are sent. */
export function addEvidence(
  url: string,
  bearer: string,
  id: string,
  sent: RequestOptions,
): Promise<Reply> {
  return send(url, 'POST', `/v1/disputes/${id}/evidence`, { bearer, ...sent })
}

export async function balanceOf(url: string, bearer: string): Promise<number> {
  const reply = await send(url, 'GET', '/v1/balance', { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['balance_usd']
}
