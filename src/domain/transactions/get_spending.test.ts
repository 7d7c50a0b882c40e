import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Spending, SpendingGroup } from '#contract/spending.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { assertForeignLikeMissing, issueCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { authorize, follow, forceCapture, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { findSpending } from './spending_store.ts'

const service = await startTestService()
const { url } = service

const day = (shift_days = 0) =>
  new Date(Date.now() + shift_days * 86_400_000).toISOString().slice(0, 10)

const ask = (bearer: string, query: Record<string, string>) =>
  send(url, 'GET', `/v1/spending?${new URLSearchParams(query)}`, { bearer })

async function spending(bearer: string, query: Record<string, string>): Promise<Spending> {
  // Yesterday too: midnight may pass while the test runs.
  const reply = await ask(bearer, { from: day(-1), to: day(1), ...query })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const spender = await openSpender(service, { usd: 300, treasury_usd: 100, name: 'Travel' })
const { key, card } = spender
const second = await issueCard(url, key, { load_usd: 50 })

const train = await authorize(url, spender, {
  amount: 40,
  mcc: '4112',
  merchant_name: 'Bahn',
  merchant_country: 'DE',
})
await follow(url, spender, { id: train.id, verb: 'capture', amount: 15 })
await follow(url, spender, { id: train.id, verb: 'capture', amount: 25 })
await follow(url, spender, { id: train.id, verb: 'refund', amount: 10 })
await forceCapture(url, spender, {
  amount: 7.5,
  mcc: '5411',
  merchant_name: 'Corner Shop',
  merchant_country: 'US',
})
await authorize(url, spender, { amount: 5, mcc: '5812', merchant_name: 'Held only' })
await authorize(url, spender, { amount: 9_000, merchant_name: 'Too much' })
const tram = { amount: 2.25, mcc: '4111', merchant_name: 'Tram', merchant_country: 'DE' }
const ride = await authorize(url, { key, card: second }, tram)
await follow(url, { key }, { id: ride.id, verb: 'capture' })

test('captures and forced posts count, holds do not, refunds stand beside them', async () => {
  const { data, ...totals } = await spending(key, { group_by: 'merchant' })
  assert.deepEqual(totals, {
    from: day(-1),
    to: day(1),
    group_by: 'merchant',
    total_usd: 49.75,
    refunded_usd: 10,
    declined_count: 1,
  })
  const row = (name: string, purchases: number, spent_usd: number, refunded_usd = 0) => ({
    ...{ key: name, label: name, purchases, spent_usd, refunded_usd },
    net_usd: spent_usd - refunded_usd,
  })
  assert.deepEqual(data, [row('Bahn', 1, 40, 10), row('Corner Shop', 1, 7.5), row('Tram', 1, 2.25)])
})

test('each grouping has its keys and labels, and the same totals', async () => {
  const keysOf = async (group_by: string) => {
    const { data, total_usd } = await spending(key, { group_by })
    assert.equal(total_usd, 49.75)
    return data.map(({ key, label, spent_usd }) => [key, label, spent_usd])
  }
  assert.deepEqual(await keysOf('category'), [
    ['transport', 'Transport and parking', 42.25],
    ['groceries', 'Groceries', 7.5],
  ])
  assert.deepEqual(await keysOf('country'), [
    ['DE', 'Germany', 42.25],
    ['US', 'United States', 7.5],
  ])
  assert.deepEqual(await keysOf('card'), [
    [card.id, `Travel (Visa •••• ${card.last4})`, 47.5],
    [second.id, `Visa •••• ${second.last4}`, 2.25],
  ])
  const [today] = await keysOf('day')
  assert.match(String(today?.[0]), /^\d{4}-\d{2}-\d{2}$/)
  const [week] = await keysOf('week')
  assert.equal(new Date(String(week?.[0])).getUTCDay(), 1)
  const [month] = await keysOf('month')
  assert.match(String(month?.[0]), /^\d{4}-\d{2}$/)
})

test('both days of the range are included, and others are not', async () => {
  const on = async (from: string, to: string) =>
    (await spending(key, { from, to, group_by: 'day' })).total_usd
  const { created_at } = ride
  const spent_on = created_at.slice(0, 10)
  assert.ok((await on(spent_on, spent_on)) > 0)
  assert.equal(await on(day(-20), day(-2)), 0)
  assert.equal(await on(day(2), day(20)), 0)
})

test('one card can be chosen; a card of another account is unknown', async () => {
  const of_second = await spending(key, { group_by: 'merchant', card_id: second.id })
  assert.equal(of_second.total_usd, 2.25)
  assert.equal(of_second.declined_count, 0)
  await assertForeignLikeMissing(service, (bearer, card_id) =>
    ask(bearer, { from: day(), to: day(), group_by: 'day', card_id }),
  )
})

test('a bad or too long range is refused', async () => {
  const { bearer } = await openAccount(url)
  const refusals: [string, string, string][] = [
    ['2026-02-30', '2026-03-01', 'from'],
    ['2026-03-02', '2026-03-01', 'to'],
    ['2025-01-01', '2026-02-05', 'to'],
    ['2026-3-1', '2026-03-02', 'from'],
  ]
  for (const [from, to, field] of refusals) {
    const { status, body } = await ask(bearer, { from, to, group_by: 'day' })
    assert.deepEqual([status, body.error], [400, 'invalid_request'], `${from} to ${to}`)
    assert.equal(body.details[0].field, field)
  }
  const longest = await ask(bearer, { from: '2025-01-01', to: '2026-02-04', group_by: 'day' })
  assert.equal(longest.status, 200)
  const grouped = await ask(bearer, { from: day(), to: day(), group_by: 'mood' })
  assert.deepEqual([grouped.status, grouped.body.error], [400, 'invalid_request'])
})

/** The plan of a report without sequential scans, one line per row. */
async function explain(fields: { group_by: SpendingGroup; card_ids: string[] | null }) {
  const plan: string[] = []
  const explaining: Tx = {
    ...service.runtime.db,
    rows: async (sql, params) => {
      const explained = await service.runtime.db.transaction(async (tx) => {
        await tx.run('set local enable_seqscan = off')
        return tx.rows<{ 'QUERY PLAN': string }>(`explain (verbose) ${sql}`, params)
      })
      plan.push(...explained.map((row) => row['QUERY PLAN']))
      return []
    },
  }
  const range = { first: new Date('2026-01-01'), end: new Date('2026-12-31') }
  await findSpending(explaining, { account_id: spender.account_id, ...range, ...fields })
  return plan
}

test('a report reads one range of an index', async () => {
  const all = await explain({ group_by: 'day', card_ids: null })
  assert.match(
    all.join('\n'),
    /Index Cond: \(\(.*account_id = .+\) AND \(.*id >= .+\) AND \(.*id < /,
  )
  const of_card = await explain({ group_by: 'day', card_ids: [card.id] })
  assert.match(of_card.join('\n'), /transactions_first_(of_card|pkey)/)
})

test('a report formats the name of a day, week or month once per group, not once per row', async () => {
  for (const group_by of ['day', 'week', 'month'] as const) {
    const plan = await explain({ group_by, card_ids: null })
    const first = plan.findIndex((line) => line.includes('Aggregate'))
    const keys = plan.slice(first).filter((line) => /Group Key|Sort Key/.test(line))
    assert(keys.length > 0)
    for (const line of keys) assert.doesNotMatch(line, /to_char/)
    const of_rows = plan.slice(plan.findIndex((line) => / on .*transactions_/.test(line)))
    assert.doesNotMatch(of_rows.join('\n'), /to_char/)
  }
})
