import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPan } from '#iso8583/pan.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { eventsOf, getCard, issueCard, openHolder } from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury, wealthOf } from '#test/support/money.ts'
import { startTestService } from '#test/support/start.ts'

/** These values are returned before real random ones. */
const queued: number[] = []
const random = {
  ...systemRandom,
  below: (limit: number) => queued.shift() ?? systemRandom.below(limit),
}
const service = await startTestService({ dependencies: { random } })
const { url, runtime } = service
const { db } = runtime

const issue = (bearer: string, body: object, key?: string): Promise<Reply> =>
  send(url, 'POST', '/v1/cards', { bearer, body, ...(key !== undefined && { key }) })

const SHIPPING = {
  name: 'Ada Lovelace',
  line1: '12 St James Square',
  city: 'London',
  postal_code: 'SW1Y 4JH',
  country: 'GB',
}

test('a plain virtual card is active, empty, without limits, and valid for four years', async () => {
  const { bearer } = await openHolder(service)
  const { status, body } = await issue(bearer, { type: 'virtual' })
  assert.equal(status, 201)
  const { id, last4, created_at, updated_at, limits, ...rest } = body
  assert.match(id, /^card_/)
  assert.match(last4, /^\d{4}$/)
  assert.equal(updated_at, created_at)
  const made = new Date(created_at)
  const { daily_resets_at, monthly_resets_at, ...spent } = limits.spent
  assert.deepEqual(spent, { daily_usd: 0, monthly_usd: 0 })
  const [year, month, day] = [made.getUTCFullYear(), made.getUTCMonth(), made.getUTCDate()]
  assert.equal(Date.parse(daily_resets_at), Date.UTC(year, month, day + 1))
  assert.equal(Date.parse(monthly_resets_at), Date.UTC(year, month + 1, 1))
  assert.deepEqual(
    [limits.per_transaction_usd, limits.daily_usd, limits.monthly_usd],
    [null, null, null],
  )
  assert.deepEqual(rest, {
    bin: '400000',
    brand: 'visa',
    type: 'virtual',
    status: 'active',
    balance_usd: 0,
    held_usd: 0,
    wallet: { apple_pay: 'unsupported', google_pay: 'unsupported' },
    name: null,
    exp_month: month + 1,
    exp_year: year + 4,
    mcc: { allow: null, deny: null },
    geo: { allow: null, deny: null },
    usage: 'reusable',
    merchant_lock: null,
    valid_until: null,
    shipping: null,
    replaces: null,
    replaced_by: null,
    frozen_by: null,
    cancel_reason: null,
    frozen_at: null,
    cancelled_at: null,
    metadata: {},
    version: 1,
  })
  assert.deepEqual(await getCard(url, bearer, id), body)
})

test('a card is issued with the requested options and the brand of its BIN', async () => {
  const { key } = await openHolder(service)
  const input = {
    type: 'virtual',
    bin: '555555',
    name: 'Travel',
    wallet_provision: ['apple_pay'],
    limits: { per_transaction_usd: 10, daily_usd: 0, monthly_usd: null },
    mcc: { allow: ['5411', '5811-5814'], deny: null },
    geo: { deny: ['KP'] },
    metadata: { order: 'A-1009' },
  }
  const { status, body } = await issue(key, input)
  assert.equal(status, 201)
  assert.deepEqual([body.bin, body.brand, body.name], ['555555', 'mastercard', 'Travel'])
  assert.deepEqual(body.wallet, { apple_pay: 'ready', google_pay: 'unsupported' })
  const { spent, ...limits } = body.limits
  assert.deepEqual(limits, input.limits)
  assert.deepEqual(body.mcc, input.mcc)
  assert.deepEqual(body.geo, { allow: null, deny: ['KP'] })
  assert.deepEqual(body.metadata, input.metadata)
  assert.equal(spent.daily_usd, 0)
})

test('a physical card needs an address, and its wallets are pending until it is produced', async () => {
  const { bearer } = await openHolder(service)
  assertRefused(await issue(bearer, { type: 'physical' }), 422, 'shipping_required')
  const elsewhere = { ...SHIPPING, country: 'XX' }
  const wrong = await issue(bearer, { type: 'physical', shipping: elsewhere })
  assertRefused(wrong, 422, 'invalid_country')
  const needless = await issue(bearer, { type: 'virtual', shipping: SHIPPING })
  assertRefused(needless, 422, 'invalid_request')
  const half = await issue(bearer, { type: 'physical', shipping: { name: 'Ada' } })
  assertRefused(half, 400, 'invalid_request')

  const { body, status } = await issue(bearer, {
    type: 'physical',
    shipping: SHIPPING,
    wallet_provision: ['google_pay'],
  })
  assert.equal(status, 201)
  assert.deepEqual(body.wallet, { apple_pay: 'unsupported', google_pay: 'pending' })
  assert.deepEqual(body.shipping, {
    ...SHIPPING,
    line2: null,
    state: null,
    phone: null,
    method: 'standard',
    status: 'pending',
    carrier: null,
    tracking_number: null,
    tracking_url: null,
    shipped_at: null,
    delivered_at: null,
  })
})

test('a BIN that the program does not issue is refused', async () => {
  const { bearer } = await openHolder(service)
  for (const bin of ['411111', '', '4000000']) {
    assertRefused(await issue(bearer, { type: 'virtual', bin }), 422, 'unsupported_bin')
  }
})

test('rules and limits are validated like in the operations that set them', async () => {
  const { bearer } = await openHolder(service)
  const wrong: [object, string, string][] = [
    [{ mcc: { deny: ['5411', '12'] } }, 'invalid_mcc', 'mcc.deny.1'],
    [{ geo: { allow: ['DE', 'de'] } }, 'invalid_country', 'geo.allow.1'],
    [
      { limits: { per_transaction_usd: 10_000.01 } },
      'amount_out_of_range',
      'limits.per_transaction_usd',
    ],
    [{ limits: { monthly_usd: 100_000.01 } }, 'amount_out_of_range', 'limits.monthly_usd'],
    [{ limits: { daily_usd: 1.001 } }, 'invalid_amount', 'limits.daily_usd'],
  ]
  for (const [body, code, field] of wrong) {
    const reply = await issue(bearer, { type: 'virtual', ...body })
    assertRefused(reply, 422, code)
    assert.equal(reply.body.details[0].field, field)
  }
})

const ahead = (ms: number) => new Date(runtime.clock.now().getTime() + ms).toISOString()
const HOUR_MS = 3_600_000
const YEAR_MS = 365.25 * 24 * HOUR_MS

test('a card is issued for one purchase, for one merchant, and until a time', async () => {
  const { bearer } = await openHolder(service)
  const valid_until = ahead(HOUR_MS)
  const once = await issueCard(url, bearer, { usage: 'single_use', valid_until })
  assert.deepEqual(
    [once.usage, once.merchant_lock, once.valid_until],
    ['single_use', null, valid_until],
  )
  const unlocked = await issueCard(url, bearer, { usage: 'merchant_locked' })
  assert.deepEqual([unlocked.usage, unlocked.merchant_lock], ['merchant_locked', null])
  const name = { name: ' Netflix ' }
  const locked = await issueCard(url, bearer, { usage: 'merchant_locked', merchant_lock: name })
  assert.deepEqual(locked.merchant_lock, { id: null, name: 'Netflix' })
  const merchant_lock = { id: '000120083521447', name: 'Netflix' }
  const both = await issueCard(url, bearer, { usage: 'merchant_locked', merchant_lock })
  assert.deepEqual(both.merchant_lock, merchant_lock)
  assert.deepEqual(await getCard(url, bearer, both.id), both)
  const latest = await issueCard(url, bearer, { valid_until: ahead(5 * YEAR_MS - 24 * HOUR_MS) })
  assert.equal(latest.usage, 'reusable')
})

test('a merchant lock needs its usage and a name, and a date is an hour to five years ahead', async () => {
  const { bearer } = await openHolder(service)
  const merchant_lock = { name: 'Netflix' }
  const locks: [object, string][] = [
    [{ merchant_lock }, 'merchant_lock'],
    [{ usage: 'reusable', merchant_lock }, 'merchant_lock'],
    [{ usage: 'single_use', merchant_lock }, 'merchant_lock'],
    [{ usage: 'merchant_locked', merchant_lock: { name: '  ' } }, 'merchant_lock.name'],
    [{ usage: 'merchant_locked', merchant_lock: { id: ' ', name: 'A' } }, 'merchant_lock.id'],
  ]
  for (const [body, field] of locks) {
    const reply = await issue(bearer, { type: 'virtual', ...body })
    assertRefused(reply, 422, 'invalid_merchant_lock')
    assert.equal(reply.body.details[0].field, field)
  }
  for (const valid_until of [ahead(-HOUR_MS), ahead(HOUR_MS * 0.9), ahead(YEAR_MS * 5.1)]) {
    const reply = await issue(bearer, { type: 'virtual', valid_until })
    assertRefused(reply, 422, 'invalid_request')
    assert.equal(reply.body.details[0].field, 'valid_until')
  }
  const shapes = [
    { usage: 'twice' },
    { usage: 'merchant_locked', merchant_lock: {} },
    { usage: 'merchant_locked', merchant_lock: { name: 'A', mcc: '5732' } },
    { valid_until: 'tomorrow' },
  ]
  for (const body of shapes) {
    assertRefused(await issue(bearer, { type: 'virtual', ...body }), 400, 'invalid_request')
  }
  const list = await send(url, 'GET', '/v1/cards', { bearer })
  assert.deepEqual(list.body.data, [])
})

test('an initial load is atomic with the issue: two events and the money, or no card', async () => {
  const holder = await openHolder(service, 100)
  const { bearer, account_id } = holder
  const card = await issueCard(url, bearer, { load_usd: 40.25 })
  assert.equal(card.balance_usd, 40.25)
  assert.equal(card.version, 1)
  const events = await eventsOf(service, card.id)
  assert.deepEqual(
    events.map(({ type }) => type),
    ['card.issued', 'card.loaded'],
  )
  for (const { body } of events) assert.deepEqual(JSON.parse(body ?? '').data.object, card)
  assert.equal(await wealthOf(db, account_id), '100')

  const short = await issue(bearer, { type: 'virtual', load_usd: 59.76 })
  assertRefused(short, 409, 'insufficient_balance')
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assert.deepEqual(account.body.cards_count, { active: 1, frozen: 0, cancelled: 0 })
  assert.equal(account.body.balance_usd, 59.75)

  const unloaded = await issueCard(url, bearer, { load_usd: 0 })
  assert.equal(unloaded.balance_usd, 0)
  assert.deepEqual(
    (await eventsOf(service, unloaded.id)).map(({ type }) => type),
    ['card.issued'],
  )
  await assertBooksSound(db)
})

test('an initial load has the same minimum and maximum as a load', async () => {
  const { bearer, account_id } = await openHolder(service)
  await fundTreasury(db, account_id, 50_000)
  for (const load_usd of [0.99, 10_000.01]) {
    const reply = await issue(bearer, { type: 'virtual', load_usd })
    assertRefused(reply, 422, 'amount_out_of_range')
  }
  assertRefused(await issue(bearer, { type: 'virtual', load_usd: -1 }), 422, 'invalid_amount')
  assert.equal((await issueCard(url, bearer, { load_usd: 10_000 })).balance_usd, 10_000)
})

test('concurrent calls cannot exceed the card limit, and cancelled cards do not count', async () => {
  const { bearer, account_id } = await openHolder(service)
  const limits = JSON.stringify({ cards_max: 3 })
  await db.run('update accounts set spend_limits = $2 where id = $1', [account_id, limits])
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => issue(bearer, { type: 'virtual' })),
  )
  const issued = replies.filter(({ status }) => status === 201)
  assert.equal(issued.length, 3)
  for (const reply of replies.filter(({ status }) => status !== 201)) {
    assertRefused(reply, 409, 'cards_limit_reached')
  }
  await send(url, 'POST', `/v1/cards/${issued[0]?.body.id}/cancel`, { bearer })
  await issueCard(url, bearer)
  assertRefused(await issue(bearer, { type: 'virtual' }), 409, 'cards_limit_reached')
})

test('repeats with the same Idempotency-Key issue one card', async () => {
  const { bearer } = await openHolder(service, 10)
  const input = { type: 'virtual', load_usd: 10 }
  const first = await issue(bearer, input, 'one')
  const again = await issue(bearer, input, 'one')
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assertRefused(
    await issue(bearer, { ...input, load_usd: 9 }, 'one'),
    422,
    'idempotency_key_reused',
  )
  const list = await send(url, 'GET', '/v1/cards', { bearer })
  assert.equal(list.body.data.length, 1)
})

test('no card is issued while issuing is paused', async () => {
  const { bearer } = await openHolder(service)
  const pause = (on: boolean) =>
    db.run(`update kill_switches set is_on = $1 where rail = 'issuing'`, [on])
  await pause(true)
  const reply = await issue(bearer, { type: 'virtual' })
  await pause(false)
  assertRefused(reply, 503, 'kill_switch_active')
  assert.equal(reply.headers.get('retry-after'), '60')
  await issueCard(url, bearer)
})

test('a taken number is replaced by another one, and every number passes the Luhn check', async () => {
  const { bearer, key } = await openHolder(service)
  queued.push(123_456_789, 123_456_789, 123_456_789, 987_654_321)
  const first = await issueCard(url, bearer)
  const second = await issueCard(url, bearer)
  assert.equal(queued.length, 0)
  const pans: string[] = []
  for (const { id, bin, last4 } of [first, second]) {
    const { body } = await send(url, 'GET', `/v1/cards/${id}/pan`, { bearer: key })
    assert.ok(isPan(body.pan))
    assert.equal(body.pan.slice(0, 6), bin)
    assert.equal(body.pan.slice(-4), last4)
    pans.push(body.pan)
  }
  assert.equal(new Set(pans).size, 2)
})

test('the audit log names the issued card', async () => {
  const { bearer } = await openHolder(service)
  const card = await issueCard(url, bearer)
  const [entry] = await auditLog(url, bearer, '&action=issue_card')
  assert.deepEqual(entry?.resource, { type: 'card', id: card.id })
})
