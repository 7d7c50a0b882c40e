import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  callCard,
  cardIn,
  eventsOf,
  getCard,
  issueCard,
  openHolder,
} from '#test/support/cards.ts'
import { holdOn } from '#test/support/holds.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, wealthOf } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { authorize } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime } = service
const { db } = runtime

const replace = (bearer: string, id: string, key?: string): Promise<Reply> =>
  callCard(url, { id, verb: 'replace' }, { bearer, ...(key !== undefined && { key }) })

test('balance, limits, usage, rules, name and metadata move to the new card; holds stay', async () => {
  const { bearer, key, account_id } = await openHolder(service, 100)
  const old = await issueCard(url, bearer, {
    bin: '555555',
    load_usd: 60,
    name: 'Travel',
    wallet_provision: ['google_pay'],
    limits: { per_transaction_usd: 50, daily_usd: 55, monthly_usd: 500 },
    mcc: { deny: ['7995'] },
    geo: { allow: ['DE', 'FR'] },
    metadata: { trip: 'Lyon' },
  })
  await holdOn(url, bearer, old.id, 12.5)
  const { status, body: card } = await replace(bearer, old.id)
  assert.equal(status, 200)
  assert.notEqual(card.id, old.id)
  assert.deepEqual(
    [card.status, card.type, card.bin, card.brand, card.replaces, card.version],
    ['active', 'virtual', '555555', 'mastercard', old.id, 1],
  )
  assert.deepEqual([card.balance_usd, card.held_usd], [47.5, 0])
  for (const field of ['name', 'mcc', 'geo', 'metadata', 'wallet', 'usage'] as const) {
    assert.deepEqual(card[field], old[field])
  }
  assert.deepEqual(card.limits.spent.daily_usd, 12.5)
  assert.deepEqual(card.limits.spent.monthly_usd, 12.5)
  assert.deepEqual({ ...card.limits, spent: null }, { ...old.limits, spent: null })

  const ended = await getCard(url, bearer, old.id)
  assert.deepEqual(
    [ended.status, ended.cancel_reason, ended.replaced_by, ended.balance_usd, ended.held_usd],
    ['cancelled', 'replaced', card.id, 0, 12.5],
  )
  assert.equal(await wealthOf(db, account_id), '100')
  await assertBooksSound(db)

  // The old card was issued, loaded and used before it was replaced.
  const before = 3
  const of_old = (await eventsOf(service, old.id)).slice(before)
  const events = [...(await eventsOf(service, card.id)), ...of_old]
  assert.deepEqual(
    events.map(({ type }) => type),
    ['card.issued', 'card.cancelled'],
  )
  assert.equal(Number(events[1]?.sequence), Number(events[0]?.sequence) + 1)
  assert.deepEqual(JSON.parse(events[0]?.body ?? '').data.object, card)
  assert.deepEqual(JSON.parse(events[1]?.body ?? '').data.object, ended)

  const shown = await send(url, 'GET', `/v1/cards/${card.id}/pan`, { bearer: key })
  assert.equal(shown.status, 200)
})

test('the replacement of a frozen card is active; a cancelled card cannot be replaced', async () => {
  const { bearer } = await openHolder(service)
  const frozen = await cardIn(url, bearer, { status: 'frozen' })
  assert.equal((await replace(bearer, frozen.id)).body.status, 'active')
  const cancelled = await cardIn(url, bearer, { status: 'cancelled' })
  assertRefused(await replace(bearer, cancelled.id), 409, 'card_cancelled')
})

test('a card frozen by an administrator cannot be replaced or unfrozen by its holder', async () => {
  const { bearer, key, account_id } = await openHolder(service, 30)
  // The administrator freezes an active card and one that its owner has frozen.
  for (const status of ['active', 'frozen'] as const) {
    const card = await cardIn(url, bearer, { status, load_usd: 10 })
    assert.equal((await operate(url, 'POST', `/cards/${card.id}/freeze`)).status, 200)
    for (const who of [bearer, key]) {
      assertRefused(await replace(who, card.id), 403, 'policy_denied')
      assertRefused(
        await callCard(url, { id: card.id, verb: 'unfreeze' }, { bearer: who }),
        403,
        'policy_denied',
      )
      // Another freeze by the owner does not change frozen_by.
      await callCard(url, { id: card.id, verb: 'freeze' }, { bearer: who })
    }
    const kept = await getCard(url, bearer, card.id)
    assert.deepEqual(
      [kept.status, kept.frozen_by, kept.replaced_by, kept.balance_usd],
      ['frozen', 'admin', null, 10],
    )
    assert.equal((await operate(url, 'POST', `/cards/${card.id}/unfreeze`)).status, 200)
    assert.equal((await replace(bearer, card.id)).status, 200)
  }
  const cards = await db.rows('select 1 from cards where account_id = $1', [account_id])
  assert.equal(cards.length, 4)
})

test('the replacement of a physical card is virtual', async () => {
  const { bearer } = await openHolder(service)
  const shipping = {
    name: 'Ada',
    line1: '1 Main St',
    city: 'Berlin',
    postal_code: '10115',
    country: 'DE',
  }
  const input = { type: 'physical', shipping, wallet_provision: ['apple_pay'] }
  const old = await issueCard(url, bearer, input)
  const { body } = await replace(bearer, old.id)
  assert.deepEqual([body.type, body.shipping], ['virtual', null])
  assert.deepEqual(body.wallet, { apple_pay: 'ready', google_pay: 'unsupported' })
})

test('concurrent replacements of one card create one card', async () => {
  const { bearer, account_id } = await openHolder(service, 30)
  const old = await issueCard(url, bearer, { load_usd: 30 })
  const replies = await Promise.all(Array.from({ length: 10 }, () => replace(bearer, old.id)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 409, 'card_cancelled')
  }
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assert.deepEqual(account.body.cards_count, { active: 1, frozen: 0, cancelled: 1 })
  assert.equal(await wealthOf(db, account_id), '30')
})

test('an account at its card limit can still replace a card', async () => {
  const { bearer, account_id } = await openHolder(service)
  const limits = JSON.stringify({ cards_max: 1 })
  await db.run('update accounts set spend_limits = $2 where id = $1', [account_id, limits])
  const old = await issueCard(url, bearer)
  assert.equal((await replace(bearer, old.id)).status, 200)
})

test('a repeat with the same Idempotency-Key replaces once; paused issuing refuses it', async () => {
  const { bearer } = await openHolder(service)
  const old = await issueCard(url, bearer)
  await db.run(`update kill_switches set is_on = true where rail = 'issuing'`)
  const paused = await replace(bearer, old.id, 'once')
  await db.run(`update kill_switches set is_on = false where rail = 'issuing'`)
  assertRefused(paused, 503, 'kill_switch_active')
  const first = await replace(bearer, old.id, 'once')
  assert.equal(first.status, 200)
  assert.equal((await replace(bearer, old.id, 'once')).text, first.text)
  const [entry] = await auditLog(url, bearer, '&action=replace_card')
  assert.deepEqual(entry?.resource, { type: 'card', id: old.id })
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, replace)
})

test('spending counts until its UTC day and month end', async () => {
  const { bearer } = await openHolder(service, 20)
  const card = await issueCard(url, bearer, { load_usd: 20 })
  await holdOn(url, bearer, card.id, 5)
  const before = (await getCard(url, bearer, card.id)).limits.spent
  assert.deepEqual([before.daily_usd, before.monthly_usd], [5, 5])
  const left_ms = Date.parse(before.monthly_resets_at) - runtime.clock.now().getTime()
  await advance(url, bearer, Math.ceil(left_ms / 1_000) + 1)
  const after = (await getCard(url, bearer, card.id)).limits.spent
  assert.deepEqual([after.daily_usd, after.monthly_usd], [0, 0])
  assert.ok(after.monthly_resets_at > before.monthly_resets_at)
})

test('a replacement keeps the merchant lock and the date; an unused card stays for one purchase', async () => {
  const { bearer, key } = await openHolder(service, 100)
  const valid_until = new Date(runtime.clock.now().getTime() + 7_200_000).toISOString()
  const locked = await issueCard(url, bearer, {
    ...{ load_usd: 20, usage: 'merchant_locked', valid_until },
  })
  await authorize(url, { key, card: locked }, { amount: 1, merchant_name: 'Netflix' })
  const { merchant_lock } = await getCard(url, bearer, locked.id)
  assert.equal(merchant_lock?.name, 'Netflix')
  const { body: next } = await replace(bearer, locked.id)
  assert.deepEqual(
    [next.usage, next.merchant_lock, next.valid_until],
    ['merchant_locked', merchant_lock, valid_until],
  )
  const other = await authorize(url, { key, card: next }, { amount: 1, merchant_name: 'Hulu' })
  assert.equal(other.decline_code, 'merchant_blocked')

  const once = await issueCard(url, bearer, { load_usd: 20, usage: 'single_use' })
  const { body: again } = await replace(bearer, once.id)
  assert.deepEqual([again.usage, again.status], ['single_use', 'active'])
  assert.equal((await authorize(url, { key, card: again }, { amount: 1 })).status, 'pending')
  assertRefused(await replace(bearer, again.id), 409, 'card_cancelled')
  await assertBooksSound(db)
})
