import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import { advance, assertRefused, auditLog, refusalOf } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount, type Person } from '#test/support/people.ts'
import { type ReceivedRequest, respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, subscribe, webhookOf } from '#test/support/webhooks.ts'

const lookup = async (name: string) => [name === 'inward.example' ? '10.0.0.7' : '93.184.216.34']
const http = makeHttpClient({ allow_loopback_http: true, lookup })
const { url } = await startTestService({ dependencies: { http } })
const hook = 'https://shop.example/hook'

const update = ({ bearer }: Person, id: string, body: unknown, key?: string) =>
  send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer, body, ...(key !== undefined && { key }) })

const v1sOf = ({ headers }: ReceivedRequest) =>
  [...String(headers['service-signature']).matchAll(/v1=([0-9a-f]+)/g)].map(([, v1]) => v1)

const signed = ({ headers, body }: ReceivedRequest, secret: string) => {
  const t = /t=(\d+)/.exec(String(headers['service-signature']))?.[1]
  return createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
}

test('changes only the fields that are sent; an empty body changes nothing', async () => {
  const person = await openAccount(url)
  const made = await subscribe(url, person, { url: hook, description: 'Shop' })
  const changed = await update(person, made.id, { events: ['card.loaded'] })
  assert.equal(changed.status, 200)
  const { secret: _secret, ...shown } = made
  const expected = { ...shown, events: ['card.loaded'], version: 2 }
  assert.deepEqual({ ...changed.body, updated_at: made.updated_at }, expected)
  const cleared = await update(person, made.id, { description: null, url: `${hook}/2` })
  assert.deepEqual(
    [cleared.body['description'], cleared.body['url'], cleared.body['version']],
    [null, `${hook}/2`, 3],
  )
  const same = await update(person, made.id, {})
  assert.deepEqual(same.body, cleared.body)
})

test('values that are set already change nothing', async () => {
  const person = await openAccount(url)
  const made = await subscribe(url, person, { url: hook, description: 'Shop' })
  const { secret: _secret, ...shown } = made
  const { url: address, description, events, status } = made
  for (const body of [{ url: address }, { description, events }, { status }]) {
    assert.deepEqual((await update(person, made.id, body)).body, shown)
  }
})

test('refuses what create_webhook refuses and changes nothing', async () => {
  const person = await openAccount(url)
  const { id } = await subscribe(url, person, { url: hook })
  for (const inward of ['https://10.0.0.1/', 'https://inward.example/hook']) {
    assertRefused(await update(person, id, { url: inward }), 422, 'invalid_webhook_url')
  }
  assertRefused(await update(person, id, { events: ['no.such'] }), 422, 'unknown_event_type')
  assertRefused(await update(person, id, { status: 'paused' }), 400, 'invalid_request')
  for (const grace_seconds of [-1, 604_801, 1.5]) {
    const reply = await update(person, id, { rotate_secret: true, grace_seconds })
    assertRefused(reply, 400, 'invalid_request')
  }
  assertRefused(await update(person, id, { grace_seconds: 0 }), 400, 'invalid_request')
  assert.equal((await webhookOf(url, person.bearer, id)).version, 1)
})

test("another account's webhook gets the same response as a missing one", async () => {
  const [person, stranger] = [await openAccount(url), await openAccount(url)]
  const { id } = await subscribe(url, person, { url: hook })
  const foreign = await update(stranger, id, { status: 'disabled' })
  const missing = await update(stranger, 'wh_01kc3z8e5xf8m9r4t2v6w7y8za', { status: 'disabled' })
  assertRefused(foreign, 404, 'not_found')
  assert.deepEqual(refusalOf(foreign), refusalOf(missing))
})

test('a rotated secret is shown once; both secrets sign during the grace period', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id, secret: first } = await subscribe(url, person, { url: receiver.url })
  const body = { rotate_secret: true, grace_seconds: 3_600 }
  const rotated = await update(person, id, body, 'rotate-1')
  const second = String(rotated.body['secret'])
  assert.match(second, /^whsec_/)
  assert.notEqual(second, first)
  assert.match(String(rotated.body['previous_secret_expires_at']), /Z$/)
  const again = await update(person, id, body, 'rotate-1')
  assert.deepEqual(again.body, { ...rotated.body, secret: null })

  await makeEvent(url, person)
  const [both] = await receiver.waitFor(1)
  assert(both !== undefined)
  assert.deepEqual(v1sOf(both), [signed(both, second), signed(both, first)])

  await advance(url, person.bearer, 3_601)
  await makeEvent(url, person)
  const [, one] = await receiver.waitFor(2)
  assert(one !== undefined)
  assert.deepEqual(v1sOf(one), [signed(one, second)])
  const { previous_secret_expires_at } = await webhookOf(url, person.bearer, id)
  assert.equal(previous_secret_expires_at, null)
  const [entry] = await auditLog(url, person.bearer, '&action=webhook.secret_rotated')
  assert.deepEqual(entry?.resource, { type: 'webhook', id })
})

test('a call that rotates the secret or disables hides no other change from the audit log', async () => {
  const person = await openAccount(url)
  const { id } = await subscribe(url, person, { url: hook })
  const actionsOf = async (body: object) => {
    const before = (await auditLog(url, person.bearer)).length
    assert.equal((await update(person, id, body)).status, 200)
    const entries = await auditLog(url, person.bearer)
    return entries
      .slice(before)
      .map(({ action }) => action)
      .sort()
  }
  assert.deepEqual(await actionsOf({ rotate_secret: true }), ['webhook.secret_rotated'])
  assert.deepEqual(await actionsOf({ rotate_secret: true, url: `${hook}/2` }), [
    'update_webhook',
    'webhook.secret_rotated',
  ])
  assert.deepEqual(await actionsOf({ status: 'disabled', events: ['card.frozen'] }), [
    'update_webhook',
    'webhook.disabled',
  ])
  assert.deepEqual(await actionsOf({ status: 'enabled' }), ['update_webhook'])
  assert.deepEqual(await actionsOf({ status: 'disabled' }), ['webhook.disabled'])
})

test('without a grace period only the new secret signs; only the last two can sign', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id } = await subscribe(url, person, { url: receiver.url })
  const cut = await update(person, id, { rotate_secret: true, grace_seconds: 0 })
  await makeEvent(url, person)
  const [alone] = await receiver.waitFor(1)
  assert(alone !== undefined)
  assert.deepEqual(v1sOf(alone), [signed(alone, String(cut.body['secret']))])
  const third = String((await update(person, id, { rotate_secret: true })).body['secret'])
  const fourth = String((await update(person, id, { rotate_secret: true })).body['secret'])
  await makeEvent(url, person)
  const [, two] = await receiver.waitFor(2)
  assert(two !== undefined)
  assert.deepEqual(v1sOf(two), [signed(two, fourth), signed(two, third)])
})

test('a retry is signed with the secrets that are valid at that time', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  receiver.respond = respondWith(500)
  const { id, secret } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  await receiver.waitFor(1)
  const rotated = await update(person, id, { rotate_secret: true })
  receiver.respond = respondWith(204)
  await advance(url, person.bearer, 7)
  const [, retry] = await receiver.waitFor(2)
  assert(retry !== undefined)
  assert.deepEqual(v1sOf(retry), [
    signed(retry, String(rotated.body['secret'])),
    signed(retry, secret),
  ])
})

test('a disabled webhook gets no events; after enabling it gets new ones only', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id } = await subscribe(url, person, { url: receiver.url })
  const off = await update(person, id, { status: 'disabled' })
  assert.deepEqual([off.body['status'], off.body['disabled_reason']], ['disabled', 'requested'])
  await makeEvent(url, person)
  await advance(url, person.bearer, 60)
  const on = await update(person, id, { status: 'enabled' })
  assert.deepEqual([on.body['status'], on.body['disabled_reason']], ['enabled', null])
  await makeEvent(url, person)
  const [only] = await receiver.waitFor(1)
  await advance(url, person.bearer, 60)
  assert.equal(only?.event.sequence, 3)
  assert.equal(receiver.received.length, 1)
  const [entry] = await auditLog(url, person.bearer, '&action=webhook.disabled')
  assert.deepEqual(entry?.resource, { type: 'webhook', id })
})
