import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Reply, send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'

const ROUNDS = 10
const REPLAYS_PER_ROUND = 100
/** From the contract's standard limits. */
const BURST_PER_SECOND = 60

const { url } = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

test('replays beyond the rate limit get a 429, and each accepted one is sent once', async (t) => {
  const person = await openAccount(url)
  const receiver = await startReceiver()
  const { id } = await subscribe(url, person, { url: receiver.url })
  await makeEvent(url, person)
  const [first] = await receiver.waitFor(1)
  const path = `/v1/webhooks/${id}/replay/${first?.event.id}`
  const began = performance.now()
  const replies: Reply[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const replay = () => send(url, 'POST', path, { bearer: person.bearer })
    replies.push(...(await Promise.all(Array.from({ length: REPLAYS_PER_ROUND }, replay))))
  }
  const accepted = replies.filter(({ status }) => status === 200)
  const refused = replies.filter(({ status }) => status === 429)
  // While the database is busy, a few of them get a 503; those may have been sent.
  const busy = replies.filter(({ status }) => status === 503)
  assert.equal(accepted.length + refused.length + busy.length, ROUNDS * REPLAYS_PER_ROUND)
  const seconds = (performance.now() - began) / 1_000
  const allowed = BURST_PER_SECOND * (seconds + 1)
  assert(accepted.length + busy.length <= allowed, `${accepted.length} were accepted`)
  assert(refused.length > 0, 'some were refused')
  for (const { headers } of refused) assert.notEqual(headers.get('retry-after'), null)
  const sent = receiver.received.length - 1
  assert(sent >= accepted.length && sent <= accepted.length + busy.length, String(sent))
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  t.diagnostic(`${sent} sent, ${refused.length} refused, ${busy.length} unavailable`)
})
