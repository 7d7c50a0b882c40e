import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { freePort } from '#test/support/port.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { authorize, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe, webhookOf } from '#test/support/webhooks.ts'

const port = await freePort()
const service = await startTestService({
  env: { FLORIN_PORT: String(port), FLORIN_PUBLIC_URL: `http://127.0.0.1:${port}` },
})
const { url } = service

const EVENTS = ['three_ds.challenge']

async function openListener() {
  const receiver = await startReceiver()
  const spender = await openSpender(service, { usd: 100 })
  const { id } = await subscribe(url, spender, { url: receiver.url, events: EVENTS })
  return { receiver, spender, webhook: () => webhookOf(url, spender.bearer, id) }
}

test('an online purchase succeeds if its holder approves in the webhook response', async () => {
  const { receiver, spender } = await openListener()
  receiver.respond = (response, { event }) => {
    const { challenge_id } = event.data.object
    response.end(JSON.stringify({ challenge_id, decision: 'approve' }))
  }
  const paid = await authorize(url, spender, { amount: 20, three_ds: true })
  assert.equal(paid.type, 'authorization')
  assert.equal(paid.three_ds?.result, 'approved')
  const [received] = receiver.received
  assert.equal(received?.event.type, 'three_ds.challenge')
  assert.equal(received?.event.sequence, null)
  const object = received?.event.data.object ?? {}
  assert.equal(object['challenge_id'], paid.three_ds?.challenge_id)
  assert.deepEqual([object['amount'], object['currency'], object['amount_usd']], [20, 'USD', 20])
  assert.match(String(received?.headers['service-signature']), /^t=\d+,v1=[0-9a-f]{64}$/)
})

test('the decision is read from a response of more than 1 KB', async () => {
  const { receiver, spender } = await openListener()
  receiver.respond = (response, { event }) => {
    const { challenge_id } = event.data.object
    response.end(JSON.stringify({ note: 'ü'.repeat(10_000), challenge_id, decision: 'approve' }))
  }
  const paid = await authorize(url, spender, { amount: 20, three_ds: true })
  assert.equal(paid.three_ds?.result, 'approved')
})

test('an endpoint that responds to a challenge with 410 is disabled', async () => {
  const { receiver, spender, webhook } = await openListener()
  receiver.respond = respondWith(410)
  const purchase = authorize(url, spender, { amount: 20, three_ds: true })
  const isDisabled = async () => (await webhook()).status === 'disabled'
  assert(await eventually(isDisabled, { within_ms: 20_000 }))
  assert.equal((await webhook()).disabled_reason, 'endpoint_gone')
  await advance(url, spender.bearer, 301)
  assert.equal((await purchase).decline_code, 'three_ds_timeout')
  assert.equal(receiver.received.length, 1)
})

test('a later decision counts once: repeating it is fine, another one is refused', async () => {
  const { receiver, spender } = await openListener()
  receiver.respond = respondWith(202)
  const purchase = authorize(url, spender, { amount: 20, three_ds: true })
  const [received] = await receiver.waitFor(1)
  const object = received?.event.data.object ?? {}
  const { challenge_id, response_url } = object
  const respond = (decision: string, at = String(response_url)) =>
    send(at, 'POST', '', { body: { challenge_id, decision } })

  const forged = await respond('approve', `${String(response_url).slice(0, -3)}abc`)
  assert.equal(forged.status, 404)
  for (let times = 0; times < 2; times += 1) {
    const { status, headers } = await respond('decline')
    assert.equal(status, 200)
    assert.match(headers.get('request-id') ?? '', /^req_/)
  }
  const other = await respond('approve')
  assert.deepEqual([other.status, other.body['error']], [409, 'decision_already_made'])
  const declined = await purchase
  assert.equal(declined.decline_code, 'three_ds_failed')
  assert.equal(declined.three_ds?.result, 'declined')
})

test('no decision in time is a refusal, and a later one is too late', async () => {
  const { receiver, spender } = await openListener()
  receiver.respond = respondWith(200)
  const purchase = authorize(url, spender, { amount: 20, three_ds: true })
  const [received] = await receiver.waitFor(1)
  await advance(url, spender.bearer, 301)
  const declined = await purchase
  assert.equal(declined.decline_code, 'three_ds_timeout')
  assert.equal(declined.three_ds?.result, 'timeout')
  const { challenge_id, response_url } = received?.event.data.object ?? {}
  const late = await send(String(response_url), 'POST', '', {
    body: { challenge_id, decision: 'approve' },
  })
  assert.deepEqual([late.status, late.body['error']], [410, 'challenge_expired'])
})

test('without an explicit subscriber there is no wait, and * does not count', async () => {
  const receiver = await startReceiver()
  const spender = await openSpender(service, { usd: 100 })
  await subscribe(url, spender, { url: receiver.url, events: ['*'] })
  const declined = await authorize(url, spender, { amount: 20, three_ds: true })
  assert.equal(declined.decline_code, 'three_ds_timeout')
  const isTold = await eventually(async () => receiver.types().includes('transaction.declined'), {
    within_ms: 20_000,
  })
  assert(isTold)
  assert(!receiver.types().includes('three_ds.challenge'))
})

test('a failed callback is sent again within seconds, and does not count as a failing endpoint', async () => {
  const { receiver, spender, webhook } = await openListener()
  receiver.respond = (response, { event }) => {
    const isFirst = receiver.received.length === 1
    const { challenge_id } = event.data.object
    response.writeHead(isFirst ? 500 : 200)
    response.end(JSON.stringify({ challenge_id, decision: 'approve' }))
  }
  const purchase = authorize(url, spender, { amount: 20, three_ds: true })
  await receiver.waitFor(1)
  // While the attempt runs, the next one is 20 seconds away; after a failure it is five.
  const isRecorded = async () => {
    const rows = await service.runtime.db.rows(
      `select 1 from three_ds_challenges
        where account_id = $1 and attempts = 1 and next_attempt_at < created_at + interval '15 s'`,
      [spender.account_id],
    )
    return rows.length === 1
  }
  assert(await eventually(isRecorded, { within_ms: 10_000 }))
  // Nothing would end this series of failures until the next challenge, which may come in weeks.
  assert.equal((await webhook()).failing_since, null)
  await advance(url, spender.bearer, 6)
  assert.equal((await purchase).type, 'authorization')
  assert.equal(receiver.received.length, 2)
  assert.equal(receiver.received[0]?.body, receiver.received[1]?.body)
  const isDelivered = async () => (await webhook()).last_delivery_at !== null
  assert(await eventually(isDelivered, { within_ms: 10_000 }))
})
