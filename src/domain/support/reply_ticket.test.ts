import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { callCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const owner = await openSpender(service, { usd: 1 })

async function openTicket(status?: string): Promise<string> {
  const body = { subject: 'A question', message: 'How?', category: 'card' }
  const { id } = (await send(url, 'POST', '/v1/tickets', { bearer: owner.key, body })).body
  if (status !== undefined) await operate(url, 'PATCH', `/tickets/${id}`, { body: { status } })
  return id
}

const reply = (bearer: string, id: string, body: object = { body: 'Any news?' }, key?: string) =>
  send(url, 'POST', `/v1/tickets/${id}/messages`, { bearer, body, ...(key && { key }) })

test('a reply is the last message of the ticket, and is audited', async () => {
  const id = await openTicket()
  const { status, body } = await reply(owner.bearer, id)
  assert.equal(status, 201)
  assert.deepEqual(
    body.messages.map((message: { author: string; body: string }) => [
      message.author,
      message.body,
    ]),
    [
      ['customer', 'How?'],
      ['customer', 'Any news?'],
    ],
  )
  assert.deepEqual([body.status, body.version], ['open', 2])
  assert.deepEqual((await send(url, 'GET', `/v1/tickets/${id}`, owner)).body, body)
  const entry = (await auditLog(url, owner.bearer, '&action=reply_ticket')).at(-1)
  assert.deepEqual([entry?.resource, entry?.actor.type], [{ type: 'ticket', id }, 'session'])
})

test('a pending and a resolved ticket open again, and operators see them as open', async () => {
  for (const status of ['pending', 'resolved']) {
    const id = await openTicket(status)
    assert.equal((await reply(owner.key, id)).body['status'], 'open')
    const open = await operate(url, 'GET', '/tickets?status=open')
    assert.ok(open.body['data'].some((ticket: { id: string }) => ticket.id === id))
  }
})

test('a closed ticket takes no reply', async () => {
  const id = await openTicket('closed')
  assertRefused(await reply(owner.key, id), 409, 'ticket_closed')
  const { body } = await send(url, 'GET', `/v1/tickets/${id}`, owner)
  assert.deepEqual([body.status, body.messages.length], ['closed', 1])
})

test('a reply needs no active card: the card may be the problem', async () => {
  const id = await openTicket()
  await callCard(url, { id: owner.card.id, verb: 'freeze' }, { bearer: owner.key })
  assert.equal((await reply(owner.key, id)).status, 201)
  await callCard(url, { id: owner.card.id, verb: 'unfreeze' }, { bearer: owner.key })
})

test('a malformed reply is refused, and a retry adds no second message', async () => {
  const id = await openTicket()
  for (const body of [{}, { body: '' }, { body: 'x'.repeat(10_001) }, { message: 'How?' }]) {
    assertRefused(await reply(owner.key, id, body), 400, 'invalid_request')
  }
  const first = await reply(owner.key, id, { body: 'Once.' }, 'once')
  const again = await reply(owner.key, id, { body: 'Once.' }, 'once')
  assert.deepEqual(again.body, first.body)
  assert.equal((await send(url, 'GET', `/v1/tickets/${id}`, owner)).body['messages'].length, 2)
})

test("another account's ticket is not found", async () => {
  const id = await openTicket()
  const stranger = await openHolder(service)
  assertRefused(await reply(stranger.key, id), 404, 'not_found')
})

test('a ticket takes 100 messages, and an operator can still close the conversation', async () => {
  const id = await openTicket()
  for (let count = 1; count < 100; count += 1) {
    assert.equal((await reply(owner.key, id)).status, 201)
  }
  const refused = await reply(owner.key, id)
  assertRefused(refused, 422, 'invalid_request')
  assert.match(refused.body['message'], /100 messages, the maximum\. Open a new one/)
  const body = { message: 'Please open another ticket.', status: 'closed' }
  const closed = await operate(url, 'POST', `/tickets/${id}/reply`, { body })
  assert.equal(closed.body['messages'].length, 101)
})
