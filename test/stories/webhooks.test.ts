import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyWebhook } from '#client/verify_webhook.ts'
import { type EventType, event_types } from '#contract/events.ts'
import { Stripe } from '#test/packages/stripe.ts'
import { callCard, type Holder, issueCard, openHolder } from '#test/support/cards.ts'
import { type Buyer, fileDispute } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { authorize, callSandbox, follow } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, fund, onChain } from '#test/support/topups.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'
import { requested } from '#test/support/withdrawals.ts'

const { url, runtime } = await startTestService()
const { db } = runtime
const HOUR_MS = 3_600_000

/** No webhook exists before the account does, so its first event is received by a replay. */
const BEFORE_ANY_SUBSCRIPTION: EventType = 'account.created'

type StoredEvent = { id: string; type: EventType; sequence: bigint; body: string }

function eventsOf(account_id: string): Promise<StoredEvent[]> {
  return db.rows<StoredEvent>(
    `select id, type, sequence, body from events
      where account_id = $1 and sequence is not null order by sequence`,
    [account_id],
  )
}

/** Uses an account so that every type of event occurs. */
async function emitEveryEvent(holder: Holder): Promise<void> {
  const { key } = holder
  await makeEvent(url, holder)
  await makeDeposits(holder)
  const card = await issueCard(url, key, { load_usd: 100 })
  const buyer = { ...holder, card, capture: await makePurchases({ ...holder, card }) }
  await winDispute(buyer)
  for (const verb of ['freeze', 'cancel']) {
    const reply = await callCard(url, { id: card.id, verb }, { bearer: key })
    assert.equal(reply.status, 200, reply.text)
  }
  await requested({ url, bearer: key }, 50)
  const from_now = (ms: number) => new Date(runtime.clock.now().getTime() + ms).toISOString()
  const window = { starts_at: from_now(HOUR_MS), ends_at: from_now(2 * HOUR_MS) }
  const planned = await operate(url, 'POST', '/maintenance', {
    body: { ...window, message: 'Upgrade.', components: ['rails'] },
  })
  assert(planned.status < 300, planned.text)
}

/** A credited top-up, an expired one, and one whose deposit is too small to credit. */
async function makeDeposits({ key: bearer }: Holder): Promise<void> {
  await fund(url, bearer, 300)
  await onChain({ url, bearer, id: (await awaitedTopup(url, bearer)).id }, 'expire')
  const { id } = await awaitedTopup(url, bearer)
  await onChain({ url, bearer, id }, 'deposit', { amount_usd: 0.5 })
  assert.equal((await onChain({ url, bearer, id }, 'confirm')).status, 'error')
}

/** A captured and partly refunded purchase, and a declined one. */
async function makePurchases(spender: Pick<Buyer, 'key' | 'card'>): Promise<Buyer['capture']> {
  const held = await authorize(url, spender, { amount: 40 })
  const capture = await follow(url, spender, { id: held.id, verb: 'capture' })
  await follow(url, spender, { id: capture.id, verb: 'refund', amount: 5 })
  assert.equal((await authorize(url, spender, { amount: 5_000 })).type, 'decline')
  return capture
}

async function winDispute(buyer: Buyer): Promise<void> {
  const { id } = await fileDispute(url, buyer)
  const closed = await callSandbox(url, buyer.key, `disputes/${id}/close`, { outcome: 'won' })
  assert.equal(closed.status, 200, closed.text)
}

test('each of the 18 event types is received once, signed and with its sequence number', async () => {
  const holder = await openHolder({ url, runtime })
  const receiver = await startReceiver()
  const { id, secret } = await subscribe(url, holder, { url: receiver.url })
  await emitEveryEvent(holder)

  const [opened] = await eventsOf(holder.account_id)
  assert.equal(opened?.type, BEFORE_ANY_SUBSCRIPTION)
  const path = `/v1/webhooks/${id}/replay/${opened.id}`
  const replayed = await send(url, 'POST', path, { bearer: holder.key })
  assert.equal(replayed.body['status'], 'succeeded', replayed.text)

  const types = Object.keys(event_types)
  assert.equal(types.length, 18)
  const missing = () => types.filter((type) => !receiver.types().includes(type))
  const isAll = async () => missing().length === 0
  assert(await eventually(isAll, { within_ms: 15_000 }), `not received: ${missing().join(', ')}`)

  const stored = await eventsOf(holder.account_id)
  assert.deepEqual(
    stored.map(({ sequence }) => Number(sequence)),
    stored.map((_, at) => at + 1),
  )
  await receiver.waitFor(stored.length)
  assert.deepEqual(
    receiver.received.map(({ body }) => body).toSorted(),
    stored.map(({ body }) => body).toSorted(),
  )
  const stripe = new Stripe('sk_test_unused')
  for (const { body, headers, event } of receiver.received) {
    const header = String(headers['service-signature'])
    assert.equal(stripe.webhooks.constructEvent(body, header, secret).id, event.id)
    assert.equal((await verifyWebhook(body, headers, secret)).id, headers['service-event-id'])
    assert(Buffer.byteLength(body) <= 20_480)
  }
  await assertBooksSound(db)
})
