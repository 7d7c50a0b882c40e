import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, auditLog } from '#test/support/calls.ts'
import { callCard, eventsOf, getCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { authorize, follow, forceCapture, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service

async function balanceOf(bearer: string): Promise<number> {
  return (await send(url, 'GET', '/v1/balance', { bearer })).body.balance_usd
}

test('of ten concurrent purchases a single-use card makes one, and the rest of it returns', async () => {
  const spender = await openSpender(service, { usd: 50, usage: 'single_use' })
  const { key, card } = spender
  const all = await Promise.all(
    Array.from({ length: 10 }, () => authorize(url, spender, { amount: 12 })),
  )
  const approved = all.filter(({ status }) => status === 'pending')
  assert.equal(approved.length, 1)
  for (const other of all.filter(({ status }) => status !== 'pending')) {
    assert.deepEqual(other.decline_code, 'card_used')
    assert.deepEqual(other.failed_rules.slice(0, 2), ['card_used', 'card_cancelled'])
    assert.equal(other.decline_message, 'This single-use card already made its purchase.')
  }
  const used = await getCard(url, key, card.id)
  assert.deepEqual(
    [used.status, used.cancel_reason, used.balance_usd, used.held_usd, used.version],
    ['cancelled', 'used', 0, 12, 2],
  )
  assert.equal(await balanceOf(key), 38)
  const events = await eventsOf(service, card.id)
  assert.equal(events.filter(({ type }) => type === 'card.cancelled').length, 1)
  const entries = await auditLog(url, key)
  const canceled = entries.filter(({ action }) => action === 'cancel_card')
  assert.deepEqual(
    canceled.map(({ actor, resource }) => [actor.type, resource?.id]),
    [['system', card.id]],
  )

  const [bought] = approved
  assert(bought !== undefined)
  await follow(url, spender, { id: bought.id, verb: 'capture', amount: 10 })
  await follow(url, spender, { id: bought.id, verb: 'reverse' })
  await follow(url, spender, { id: bought.id, verb: 'refund', amount: 4 })
  assert.equal(await balanceOf(key), 44)
  await forceCapture(url, spender, { amount: 1 })
  assert.equal(await balanceOf(key), 43)
  for (const verb of ['freeze', 'replace']) {
    const refused = await callCard(url, { id: card.id, verb }, { bearer: key })
    assert.equal(refused.body.error, 'card_cancelled', verb)
  }
  const again = await callCard(url, { id: card.id, verb: 'cancel' }, { bearer: key })
  assert.deepEqual([again.status, again.body.cancel_reason], [200, 'used'])
  await assertBooksSound(runtime.db)
})

test('a single-use card that was never used is canceled like any other', async () => {
  const spender = await openSpender(service, { usd: 20, usage: 'single_use' })
  const { key, card } = spender
  const timed_out = await authorize(url, spender, { amount: 5, three_ds: true })
  assert.equal(timed_out.decline_code, 'three_ds_timeout')
  const canceled = await callCard(url, { id: card.id, verb: 'cancel' }, { bearer: key })
  assert.equal(canceled.body.cancel_reason, 'requested')
  assert.equal((await authorize(url, spender, { amount: 5 })).decline_code, 'card_cancelled')
})

test('a card that is canceled while it is used has one reason, and one purchase at most', async () => {
  for (let round = 0; round < 3; round += 1) {
    const spender = await openSpender(service, { usd: 20, usage: 'single_use' })
    const { key, card } = spender
    const [bought, canceled] = await Promise.all([
      authorize(url, spender, { amount: 5 }),
      callCard(url, { id: card.id, verb: 'cancel' }, { bearer: key }),
    ])
    assert.equal(canceled.status, 200)
    const isUsed = bought.status === 'pending'
    const after = await getCard(url, key, card.id)
    assert.equal(after.cancel_reason, isUsed ? 'used' : 'requested')
    if (!isUsed) assert.equal(bought.decline_code, 'card_cancelled')
    assert.equal(await balanceOf(key), isUsed ? 15 : 20)
    const events = await eventsOf(service, card.id)
    assert.equal(events.filter(({ type }) => type === 'card.cancelled').length, 1)
  }
  await assertBooksSound(runtime.db)
})

test('a merchant-locked card keeps to its first merchant, or to the one it was issued for', async () => {
  const first = await openSpender(service, { usd: 50, usage: 'merchant_locked' })
  await authorize(url, first, { amount: 5, merchant_name: 'Netflix' })
  const { merchant_lock } = await getCard(url, first.key, first.card.id)
  assert.deepEqual(merchant_lock?.name, 'Netflix')
  const other = await authorize(url, first, { amount: 5, merchant_name: 'Hulu' })
  assert.deepEqual(
    [other.decline_code, other.failed_rules],
    ['merchant_blocked', ['merchant_blocked']],
  )
  const again = await authorize(url, first, { amount: 5, merchant_name: 'NETFLIX' })
  assert.equal(again.status, 'pending')

  const named = { usd: 50, usage: 'merchant_locked', merchant_lock: { name: 'netflix' } }
  const locked = await openSpender(service, named)
  const refused = await authorize(url, locked, { amount: 5, merchant_name: 'Hulu' })
  assert.equal(refused.decline_code, 'merchant_blocked')
  assert.equal(
    (await authorize(url, locked, { amount: 5, merchant_name: 'Netflix' })).status,
    'pending',
  )
  const { body } = await send(url, 'GET', `/v1/activity?card_id=${first.card.id}`, {
    bearer: first.key,
  })
  const messages = body.data.map(({ message }: { message: string }) => message)
  assert(messages.some((message: string) => /now works only at Netflix\.$/.test(message)))
})

test('after its date a card declines as expired, and its money can be moved back', async () => {
  const valid_until = new Date(runtime.clock.now().getTime() + 3_600_000).toISOString()
  const spender = await openSpender(service, { usd: 20, valid_until })
  const { key, card } = spender
  assert.equal((await authorize(url, spender, { amount: 5 })).status, 'pending')
  await advance(url, key, 3_601)
  assert.equal((await authorize(url, spender, { amount: 5 })).decline_code, 'card_expired')
  const { body } = await callCard(url, { id: card.id, verb: 'unload' }, { bearer: key })
  assert.deepEqual([body.amount_usd, body.card.status], [15, 'active'])
})
