import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FlorinError } from '#client/client.ts'
import { verifyWebhook } from '#client/verify_webhook.ts'
import { eventually } from '#test/support/eventually.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, webhooksOf } from '#test/support/webhooks.ts'
import { startListening } from './listen.ts'

const { url } = await startTestService()

test('prints each event on a line, forwards it signed, and deletes its webhook on exit', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const app = await startReceiver()
  app.respond = respondWith(202)
  const lines: string[] = []
  const options = { url, key, events: '*', forward: app.url }
  const stop = await startListening(options, (line) => lines.push(line))
  const secret = /whsec_[\w-]+/.exec(lines[0] ?? '')?.[0] ?? ''

  await makeEvent(url, person)
  const [received] = await app.waitFor(1)
  assert(received !== undefined)
  const event = await verifyWebhook(received.body, received.headers, secret)
  assert.equal(event.type, 'account.signed_in')
  assert.equal(received.headers['service-event-id'], event.id)
  const isPrinted = async () => lines.length === 3
  assert(await eventually(isPrinted, { within_ms: 20_000 }))
  assert.match(lines[2] ?? '', /Z {2}account\.signed_in +evt_\w+ {2}#\d+ {2}-> 202$/)

  await stop()
  assert.deepEqual(await webhooksOf(url, person.bearer), [])
})

test('without --forward it prints and accepts events; it shows when a receiver is down', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const stop = await startListening({ url, key, events: 'account.signed_in' }, print)
  const forward = 'http://127.0.0.1:9/'
  const stopOther = await startListening({ url, key, events: '*', forward }, print)
  await makeEvent(url, person)
  const isPrinted = async () => lines.filter((line) => line.includes('evt_')).length === 2
  assert(await eventually(isPrinted, { within_ms: 20_000 }))
  assert.equal(lines.filter((line) => line.endsWith('-> no response')).length, 1)
  await stop()
  await stopOther()
})

test('a refusal, and a service that is down, fail as in every other command', async () => {
  const { bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  const codeOf = async (options: { url: string; key: string; events: string }) => {
    const failed = await startListening(options, () => undefined).catch((cause) => cause)
    assert(failed instanceof FlorinError, String(failed))
    return failed.code
  }
  assert.equal(await codeOf({ url, key: 'flk_test_nonsense', events: '*' }), 'invalid_token')
  assert.equal(await codeOf({ url, key, events: 'card.lost' }), 'unknown_event_type')
  assert.equal(await codeOf({ url: 'http://127.0.0.1:9', key, events: '*' }), 'network_error')
})
