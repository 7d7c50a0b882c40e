import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, subscribe, webhooksOf } from '#test/support/webhooks.ts'

const { url, runtime } = await startTestService()

const remove = (bearer: string, id: string) => send(url, 'DELETE', `/v1/webhooks/${id}`, { bearer })

test('deletes the webhook and its due deliveries', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  receiver.respond = respondWith(503)
  const { id } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  await receiver.waitFor(1)
  const reply = await remove(person.bearer, id)
  assert.deepEqual([reply.status, reply.text], [204, ''])
  assert.deepEqual(await webhooksOf(url, person.bearer), [])
  await makeEvent(url, person)
  await advance(url, person.bearer, 86_400)
  await advance(url, person.bearer, 86_400)
  assert.equal(receiver.received.length, 1)
  assert.deepEqual(await runtime.db.rows('select 1 from deliveries'), [])
  const [entry] = await auditLog(url, person.bearer, '&action=delete_webhook')
  assert.deepEqual(entry?.resource, { type: 'webhook', id })
})

test("a deleted webhook and another account's webhook are not found", async () => {
  const [person, stranger] = [await openAccount(url), await openAccount(url)]
  const { id } = await subscribe(url, person, { url: 'https://shop.example/hook' })
  const foreign = await remove(stranger.bearer, id)
  assertRefused(foreign, 404, 'not_found')
  assert.equal((await remove(person.bearer, id)).status, 204)
  const again = await remove(person.bearer, id)
  assert.deepEqual(refusalOf(again), refusalOf(foreign))
})

test('a deleted webhook does not count against the limit', async () => {
  const person = await openAccount(url)
  const hook = 'https://shop.example/hook'
  const ids: string[] = []
  for (let at = 0; at < 20; at += 1) ids.push((await subscribe(url, person, { url: hook })).id)
  const body = { url: hook, events: ['*'] }
  const full = await send(url, 'POST', '/v1/webhooks', { bearer: person.bearer, body })
  assert(full.status >= 400, 'the limit is reached')
  await remove(person.bearer, String(ids[7]))
  await subscribe(url, person, { url: hook })
})
