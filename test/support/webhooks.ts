import assert from 'node:assert/strict'
import type { Delivery, NewWebhook, Webhook } from '#contract/webhooks.ts'
import { send } from './http.ts'
import { PASSWORD, type Person } from './people.ts'

/** Subscribes a webhook to all events, or to the given ones. */
export async function subscribe(
  url: string,
  { bearer }: Pick<Person, 'bearer'>,
  input: { url: string; events?: string[]; description?: string },
): Promise<NewWebhook & { secret: string }> {
  const body = { events: ['*'], ...input }
  const reply = await send(url, 'POST', '/v1/webhooks', { bearer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body as unknown as NewWebhook & { secret: string }
}

/** Signs in again: the simplest way to create an event. */
export async function makeEvent(url: string, { email }: Pick<Person, 'email'>): Promise<void> {
  const reply = await send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })
  assert(reply.status < 300, reply.text)
}

export async function webhooksOf(url: string, bearer: string, query = ''): Promise<Webhook[]> {
  const reply = await send(url, 'GET', `/v1/webhooks?expand=deliveries${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data'] as unknown as Webhook[]
}

export async function webhookOf(url: string, bearer: string, id: string): Promise<Webhook> {
  const webhook = (await webhooksOf(url, bearer)).find((one) => one.id === id)
  assert(webhook !== undefined, 'the webhook is listed')
  return webhook
}

/** The delivery's attempts, oldest first. */
export async function attemptsOf(url: string, bearer: string, id: string): Promise<Delivery[]> {
  const { recent_deliveries = [] } = await webhookOf(url, bearer, id)
  return recent_deliveries.toReversed()
}
