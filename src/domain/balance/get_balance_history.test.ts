import assert from 'node:assert/strict'
import { test } from 'node:test'
import { move } from '#domain/ledger/move.ts'
import { cardPurse, holdPurse, treasury } from '#domain/ledger/purse.ts'
import { readBalancePage } from '#domain/ledger/treasury_history.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()

const history = (bearer: string, query = '') =>
  send(service.url, 'GET', `/v1/balance/history${query}`, { bearer })

async function load(account_id: string, micros: bigint, reference_id = 'ctr_one') {
  const { db, newId } = service.runtime
  await db.transaction((tx) =>
    move(
      tx,
      {
        movement: 'card_loaded',
        account_id,
        from: treasury,
        to: cardPurse('card_a'),
        amount_micros: micros,
        reference: { type: 'card_transfer', id: reference_id },
        description: 'Loaded onto a card.',
      },
      { now: new Date(), newId },
    ),
  )
}

test('the amounts of all pages add up to the balance', async () => {
  const { bearer, account_id } = await openAccount(service.url)
  await fundTreasury(service.runtime.db, account_id, 100)
  for (let at = 1n; at <= 23n; at += 1n) await load(account_id, at * 10_000n)
  let balance = 0
  let cursor = ''
  let rows = 0
  do {
    const { body } = await history(bearer, `?order=asc&limit=5${cursor}`)
    for (const point of body.data) {
      balance = Math.round((balance + point.amount_usd) * 1e6) / 1e6
      assert.equal(point.balance_usd, balance)
      rows += 1
    }
    cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
  } while (cursor !== '')
  assert.equal(rows, 24)
  const now = await send(service.url, 'GET', '/v1/balance', { bearer })
  assert.equal(now.body.balance_usd, balance)
})

test('a point has its type, amount, balance and reference', async () => {
  const { bearer, account_id } = await openAccount(service.url)
  await fundTreasury(service.runtime.db, account_id, 10)
  await load(account_id, 2_500_000n)
  const { body } = await history(bearer)
  const [{ id, created_at, ...point }] = body.data
  assert.match(id, /^bal_/)
  assert.ok(Date.parse(created_at) > 0)
  assert.deepEqual(point, {
    type: 'load',
    amount_usd: -2.5,
    balance_usd: 7.5,
    reference: { type: 'card_transfer', id: 'ctr_one' },
    description: 'Loaded onto a card.',
  })
})

test('movements between purses of a card are not in the history', async () => {
  const { bearer, account_id } = await openAccount(service.url)
  await fundTreasury(service.runtime.db, account_id, 10)
  await load(account_id, 5_000_000n)
  const { db, newId } = service.runtime
  await db.transaction((tx) =>
    move(
      tx,
      {
        movement: 'spend_held',
        account_id,
        from: cardPurse('card_a'),
        to: holdPurse('card_a'),
        amount_micros: 2_000_000n,
        reference: { type: 'transaction', id: 'txn_one' },
        description: 'A purchase.',
      },
      { now: new Date(), newId },
    ),
  )
  const { body } = await history(bearer)
  assert.deepEqual(
    body.data.map(({ type }: { type: string }) => type),
    ['load', 'adjustment'],
  )
})

test('filters by type and reference', async () => {
  const { bearer, account_id } = await openAccount(service.url)
  await fundTreasury(service.runtime.db, account_id, 10)
  await load(account_id, 1n, 'ctr_a')
  await load(account_id, 2n, 'ctr_b')
  const types = await history(bearer, '?type=adjustment')
  assert.deepEqual(
    types.body.data.map(({ type }: { type: string }) => type),
    ['adjustment'],
  )
  const reference = await history(bearer, '?type=load,topup&reference_id=ctr_b')
  assert.deepEqual(
    reference.body.data.map(({ amount_usd }: { amount_usd: number }) => amount_usd),
    [-0.000002],
  )
})

test('a page in the middle of 100,000 points is one index range scan', async () => {
  const { account_id } = await openAccount(service.url)
  const { db } = service.runtime
  await db.connection(async (client) => {
    await client.query("set statement_timeout = '2min'")
    await client.query(
      `insert into movements
       select $1, 'bal_' || lpad(g::text, 26, '0'), 'topup_settled', 'chain', '', null,
              'treasury', '', g, 1, 'topup', 'tup', 'A deposit.', now()
         from generate_series(1, 100000) g`,
      [account_id],
    )
    await client.query('analyze movements')
  })
  const plan: string[] = []
  const explaining: Tx = {
    ...db,
    rows: async (sql, params) => {
      const rows = await db.rows<{ 'QUERY PLAN': string }>(`explain ${sql}`, params)
      plan.push(...rows.map((row) => row['QUERY PLAN']))
      return []
    },
  }
  const half_way = { created_lt: '1970-01-01T00:00:00.001Z' }
  await readBalancePage(explaining, half_way, [['account_id = ?', account_id]])
  assert.match(plan.join('\n'), /Index Scan Backward using movements/)
  assert.doesNotMatch(plan.join('\n'), /Sort|Seq Scan/)
})
