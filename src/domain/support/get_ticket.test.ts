import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const owner = await openSpender(service, { usd: 1 })
const opened = await send(url, 'POST', '/v1/tickets', {
  bearer: owner.key,
  body: { subject: 'A question', message: 'How?', category: 'card' },
})
const { id } = opened.body
const get = (bearer: string, ticket: string = id) =>
  send(url, 'GET', `/v1/tickets/${ticket}`, { bearer })

test('a ticket is shown as its list shows it, with the replies of support', async () => {
  assert.deepEqual((await get(owner.key)).body, opened.body)
  await operate(url, 'POST', `/tickets/${id}/reply`, { body: { message: 'Like this.' } })
  const { status, body } = await get(owner.bearer)
  assert.equal(status, 200)
  assert.deepEqual(
    body.messages.map((message: { author: string; body: string }) => message.body),
    ['How?', 'Like this.'],
  )
  const list = await send(url, 'GET', '/v1/tickets', { bearer: owner.key })
  assert.deepEqual(list.body['data'], [body])
})

test("another account's ticket is not found, like one that does not exist", async () => {
  const stranger = await openHolder(service)
  const foreign = await get(stranger.key)
  assertRefused(foreign, 404, 'not_found')
  const missing = await get(stranger.key, 'tkt_01kc3z8e5xf8m9r4t2v6w7y8za')
  assert.equal(missing.body['message'], foreign.body['message'])
})
