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

const ask = async (bearer: string, category: string): Promise<string> => {
  const body = { subject: 'A question', message: 'How?', category }
  return (await send(url, 'POST', '/v1/tickets', { bearer, body })).body['id']
}
const list = (bearer: string, query = '') => send(url, 'GET', `/v1/tickets${query}`, { bearer })
const idsIn = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

test('tickets are listed newest first with messages, by status, category and page', async () => {
  const { key } = await openSpender(service, { usd: 1 })
  const ids: string[] = []
  for (const category of ['card', 'topup', 'card', 'other']) ids.push(await ask(key, category))
  await operate(url, 'PATCH', `/tickets/${ids[0]}`, { body: { status: 'closed' } })
  assert.deepEqual(idsIn(await list(key)), ids.toReversed())
  assert.deepEqual(idsIn(await list(key, '?category=card,topup&order=asc')), ids.slice(0, 3))
  assert.deepEqual(idsIn(await list(key, '?status=closed')), ids.slice(0, 1))
  const first = await list(key, '?limit=3')
  assert.equal(first.body['has_more'], true)
  const rest = await list(key, `?limit=3&cursor=${first.body['next_cursor']}`)
  assert.deepEqual(idsIn(rest), ids.slice(0, 1))
  assert.equal(rest.body['data'][0].messages[0].body, 'How?')
})

test('one account does not see the tickets of another', async () => {
  const owner = await openSpender(service, { usd: 1 })
  await ask(owner.key, 'card')
  const stranger = await openHolder(service)
  assert.deepEqual(idsIn(await list(stranger.key)), [])
})

test('an unknown filter or value is refused', async () => {
  const { key } = await openHolder(service)
  assertRefused(await list(key, '?colour=red'), 400, 'unknown_parameter')
  assertRefused(await list(key, '?status=lost'), 400, 'invalid_request')
  assertRefused(await list(key, '?cursor=abc'), 400, 'invalid_cursor')
})

test('a page with long messages ends early, and the next one continues', async () => {
  const { key } = await openSpender(service, { usd: 1 })
  const message = '😀'.repeat(10_000)
  const ids: string[] = []
  for (let at = 0; at < 6; at += 1) {
    const id = await ask(key, 'other')
    for (let more = 0; more < 20; more += 1) {
      await service.runtime.db.run(
        `insert into ticket_messages (account_id, ticket_id, id, author, body, created_at)
         select account_id, id, $2, 'support', $3, now() from tickets where id = $1`,
        [id, service.runtime.newId('msg', service.runtime.clock.now()), message],
      )
    }
    ids.push(id)
  }
  const first = await list(key)
  assert.deepEqual(idsIn(first), ids.slice(4).reverse(), '1.6 of at most 2 MB')
  assert.equal(first.body['has_more'], true)
  const found = idsIn(first)
  let cursor = first.body['next_cursor']
  while (cursor !== null) {
    const page = await list(key, `?cursor=${cursor}`)
    found.push(...idsIn(page))
    cursor = page.body['next_cursor']
  }
  assert.deepEqual(found, ids.toReversed())
})
