import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutboxEvent } from '#domain/events/outbox_store.ts'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { openAccount } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'
import { insertDeliveries } from './delivery_store.ts'

const kept = recordingLog()
const names: Record<string, string[]> = {
  'shop.example': ['93.184.216.34'],
  'inward.example': ['93.184.216.34', '10.0.0.7'],
}
const lookup = async (name: string) => names[name] ?? Promise.reject(new Error('no such name'))
const http = makeHttpClient({ allow_loopback_http: true, lookup })
const { url, runtime } = await startTestService({ dependencies: { log: kept.log, http } })
const hook = 'https://shop.example/florin'

const create = (bearer: string, body: unknown, key?: string) =>
  send(url, 'POST', '/v1/webhooks', { bearer, body, ...(key !== undefined && { key }) })

test('returns the webhook with its secret, as the contract describes it', async () => {
  const { bearer } = await openAccount(url)
  const events = ['card.loaded', 'card.frozen', 'card.loaded']
  const { status, body } = await create(bearer, { url: hook, events, description: 'Shop' })
  assert.equal(status, 201)
  const { id, secret, secret_hint, created_at, updated_at, ...rest } = body as Record<
    string,
    unknown
  >
  assert.match(String(id), /^wh_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  assert.match(String(secret), /^whsec_[\w-]{43}$/)
  assert.equal(secret_hint, `…${String(secret).slice(-4)}`)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    url: hook,
    events: ['card.loaded', 'card.frozen'],
    status: 'enabled',
    disabled_reason: null,
    description: 'Shop',
    previous_secret_expires_at: null,
    failing_since: null,
    last_delivery_at: null,
    version: 1,
  })
})

test('accepts *, three_ds.challenge and known event types only', async () => {
  const { bearer } = await openAccount(url)
  for (const events of [['*'], ['three_ds.challenge'], ['*', 'three_ds.challenge']]) {
    assert.equal((await create(bearer, { url: hook, events })).status, 201)
  }
  for (const type of ['card.exploded', 'card.*', 'card.unfrozen', '', 'toString', '__proto__']) {
    const reply = await create(bearer, { url: hook, events: ['card.loaded', type] })
    assertRefused(reply, 422, 'unknown_event_type')
  }
  assertRefused(await create(bearer, { url: hook, events: [] }), 400, 'invalid_request')
  assertRefused(await create(bearer, { url: hook }), 400, 'invalid_request')
})

test('refuses URLs of private networks in every spelling', async () => {
  const { bearer } = await openAccount(url)
  const inward = [
    'http://shop.example/hook',
    'https://127.0.0.1/hook',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://10.1.2.3/',
    'https://localhost/',
    'https://inward.example/hook',
    'https://user:password@shop.example/',
    'https://shop.example:22/',
    'https://shop.example:5432/',
    'http://127.0.0.1:22/',
    'ftp://shop.example/',
    'file:///etc/passwd',
    'not an address',
    '',
  ]
  for (const address of inward) {
    const reply = await create(bearer, { url: address, events: ['*'] })
    assertRefused(reply, 422, 'invalid_webhook_url')
  }
  const loopback = { url: 'http://127.0.0.1:3000/hook', events: ['*'] }
  assert.equal((await create(bearer, loopback)).status, 201, 'the sandbox allows loopback')
})

test('a host name that cannot be resolved yet is accepted and checked when sending', async () => {
  const { bearer } = await openAccount(url)
  const reply = await create(bearer, { url: 'https://not-yet.example/hook', events: ['*'] })
  assert.equal(reply.status, 201, reply.text)
})

test('the 21st webhook is refused, even with concurrent calls', async () => {
  const { bearer } = await openAccount(url)
  const replies = await Promise.all(
    Array.from({ length: 24 }, () => create(bearer, { url: hook, events: ['*'] })),
  )
  assert.equal(replies.filter(({ status }) => status === 201).length, 20)
  const refused = replies.find(({ status }) => status !== 201)
  assert(refused !== undefined)
  assertRefused(refused, 422, 'invalid_request')
  assert.match(String(refused.body['message']), /limit of 20 webhooks/)
})

test('a repeat with the same Idempotency-Key returns the webhook without its secret', async () => {
  const { bearer } = await openAccount(url)
  const first = await create(bearer, { url: hook, events: ['*'] }, 'hook-1')
  const second = await create(bearer, { url: hook, events: ['*'] }, 'hook-1')
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(second.body, { ...first.body, secret: null })
})

test('the secret is in no table and no log line in clear text', async () => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { secret } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  await receiver.waitFor(1)
  const tables = await wholeDatabase(runtime.db)
  assert(tables.includes(receiver.url), 'the tables were read')
  assert(!tables.includes(secret))
  assert(!kept.text().includes(secret))
})

test('a new webhook gets events from its creation on', async () => {
  const person = await openAccount(url)
  await makeEvent(url, person)
  const receiver = await startReceiver()
  await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  const [received] = await receiver.waitFor(1)
  assert.equal(received?.event.sequence, 3)
  assert.deepEqual(receiver.types(), ['account.signed_in'])
})

test('an earlier event that leaves the outbox after the creation is not sent', async () => {
  const person = await openAccount(url)
  const webhook = await subscribe(url, person, { url: hook })
  const [earlier] = await runtime.db.rows<OutboxEvent>(
    `select account_id, id, sequence, type, severity, message, resource_id, card_id,
            created_at
       from events where account_id = $1 and sequence is not null order by id desc limit 1`,
    [person.account_id],
  )
  assert(earlier !== undefined)
  const later = { ...earlier, id: 'evt_later', sequence: (earlier.sequence ?? 0n) + 1n }
  const sent = await runtime.db.transaction(async (tx) => {
    await insertDeliveries(tx, [earlier, later], runtime.clock.now())
    const rows = await tx.rows<{ event_id: string }>(
      'delete from deliveries where webhook_id = $1 returning event_id',
      [webhook.id],
    )
    return rows.map(({ event_id }) => event_id)
  })
  assert.deepEqual(sent, ['evt_later'])
})

test('creation is audited', async () => {
  const person = await openAccount(url)
  const { id } = await subscribe(url, person, { url: hook })
  const [entry] = await auditLog(url, person.bearer, '&action=create_webhook')
  assert.deepEqual(entry?.resource, { type: 'webhook', id })
})
