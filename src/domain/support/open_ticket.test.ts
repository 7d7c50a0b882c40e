import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { callCard, issueCard, openHolder } from '#test/support/cards.ts'
import { openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

const ask = (bearer: string, body: object = {}, key?: string) =>
  send(url, 'POST', '/v1/tickets', {
    bearer,
    body: { subject: 'Declined', message: 'Why?', category: 'card', ...body },
    ...(key !== undefined && { key }),
  })

test('a new ticket is open, holds its first message and is audited', async () => {
  const buyer = await openBuyer(service, 10)
  const about = { card_id: buyer.card.id, transaction_id: buyer.capture.id }
  const { status, body } = await ask(buyer.key, about)
  assert.equal(status, 201)
  assert.match(body.id, /^tkt_/)
  assert.deepEqual(
    [body.subject, body.category, body.status, body.card_id, body.transaction_id, body.version],
    ['Declined', 'card', 'open', buyer.card.id, buyer.capture.id, 1],
  )
  const [message] = body.messages
  assert.match(message.id, /^msg_/)
  assert.deepEqual([message.author, message.body], ['customer', 'Why?'])
  const [entry] = await auditLog(url, buyer.bearer, '&action=open_ticket')
  assert.deepEqual(entry?.resource, { type: 'ticket', id: body.id })
})

test('a ticket needs an active card', async () => {
  const holder = await openHolder(service)
  assertRefused(await ask(holder.key), 403, 'active_card_required')
  const card = await issueCard(url, holder.key)
  assert.equal((await ask(holder.key)).status, 201)
  await callCard(url, { id: card.id, verb: 'freeze' }, { bearer: holder.key })
  assertRefused(await ask(holder.key), 403, 'active_card_required')
})

test("another account's card or transaction is not found", async () => {
  const owner = await openBuyer(service, 10)
  const stranger = await openBuyer(service, 10)
  for (const about of [{ card_id: owner.card.id }, { transaction_id: owner.capture.id }]) {
    assertRefused(await ask(stranger.key, about), 404, 'not_found')
  }
})

test('a malformed ticket is refused, and a retry opens no second one', async () => {
  const buyer = await openBuyer(service, 10)
  for (const body of [{ subject: '' }, { category: 'x' }, { message: '' }, { more: 1 }]) {
    assertRefused(await ask(buyer.key, body), 400, 'invalid_request')
  }
  const first = await ask(buyer.key, {}, 'once')
  assert.deepEqual((await ask(buyer.key, {}, 'once')).body, first.body)
})

test('a reply from support sets the ticket to pending and emails the customer', async () => {
  const buyer = await openBuyer(service, 10)
  const { body: ticket } = await ask(buyer.key)
  const reply = await operate(url, 'POST', `/tickets/${ticket.id}/reply`, {
    body: { message: 'Because.' },
  })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(
    reply.body['messages'].map(({ author, body }: { author: string; body: string }) => [
      author,
      body,
    ]),
    [
      ['customer', 'Why?'],
      ['support', 'Because.'],
    ],
  )
  assert.deepEqual([reply.body['status'], reply.body['version']], ['pending', 2])
  const done = { body: { message: 'Done.', status: 'resolved' } }
  const last = await operate(url, 'POST', `/tickets/${ticket.id}/reply`, done)
  assert.equal(last.body['status'], 'resolved')
  const closed = await operate(url, 'PATCH', `/tickets/${ticket.id}`, {
    body: { status: 'closed' },
  })
  assert.equal(closed.body['status'], 'closed')
  const inbox = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: buyer.key })
  const emails = inbox.body['data'].filter(
    ({ kind }: { kind: string }) => kind === 'ticket.answered',
  )
  assert.equal(emails.length, 2)
  const [entry] = await auditLog(url, buyer.bearer, '&action=reply_ticket')
  assert.equal(entry?.actor.type, 'operator')
})
