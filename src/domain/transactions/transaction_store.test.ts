import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openAccountPool, openDatabase, type Tx } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { transactionConditions } from './transaction_conditions.ts'
import { readTransactionPage } from './transaction_store.ts'

const database = await cloneDatabase()
const owner_db = openDatabase(database.url)
const account_pool = openAccountPool(database.url)
after(async () => {
  await Promise.all([owner_db.close(), account_pool.close()])
  await database.drop()
})

type Arguments = Parameters<typeof readTransactionPage>

const pagePlan = async (input: Arguments[2], listed: Omit<Arguments[3], 'account_id'> = {}) => {
  const db = account_pool.of('acct_7')
  let plan = ''
  const explaining: Tx = {
    ...db,
    rows: async (sql, params) => {
      const lines = await db.rows<{ 'QUERY PLAN': string }>(`explain ${sql}`, params)
      plan = lines.map((line) => line['QUERY PLAN']).join('\n')
      return []
    },
  }
  const of_account = { account_id: 'acct_7', ...listed }
  await readTransactionPage(explaining, 'list_transactions', input, of_account)
  return plan
}

test('a page reads no more rows than it has, however many the account has', async () => {
  // As many rows per account as a page has: PostgreSQL would like to read and sort them all.
  await owner_db.run(
    `insert into transactions (account_id, id, card_id, type, status, amount_minor, currency,
                               amount_micros, merchant_name, mcc, card_present, entry_mode,
                               network, created_at, updated_at)
     select 'acct_' || n % 200, 'txn_' || lpad(n::text, 26, '0'), 'card_' || n % 200, 'decline',
            'declined', 100, 'USD', 1000000, 'Shop', '5411', true, 'chip', 'visa', now(), now()
       from generate_series(1, 5000) n`,
  )
  await owner_db.run('vacuum analyze transactions')
  for (const input of [{}, { limit: 10 }, { limit: 100 }, { order: 'asc' as const }]) {
    const plan = await pagePlan(input)
    assert.match(plan, /Index Scan .*using transactions_first_pkey/, plan)
    assert.doesNotMatch(plan, /Sort|Bitmap/, plan)
  }
})

test('a page of some cards reads a page of each from its index, beginning where the page does', async () => {
  const between = { created_gte: '2025-01-01T00:00:00Z', created_lt: '2026-01-01T00:00:00Z' }
  for (const card_ids of [['card_7'], ['card_7', 'card_8']]) {
    for (const input of [{}, { order: 'asc' as const }, between]) {
      const plan = await pagePlan(input, { card_ids })
      assert.match(
        plan,
        /Limit.*Limit.*Index Scan .*using transactions_first_card_id_id_idx/s,
        plan,
      )
      assert.doesNotMatch(plan, /pkey|Bitmap/, plan)
    }
    const plan = await pagePlan(between, { card_ids })
    assert.match(plan, /Index Cond: .*ROW[(]card_id, id[)] >= .*ROW[(]card_id, id[)] <= /, plan)
  }
})

test('a page of many cards, or with another filter, is read in the order of the list', async () => {
  const many = Array.from({ length: 11 }, (_, at) => `card_${at}`)
  const of_type = {
    card_ids: ['card_7', 'card_8'],
    filters: transactionConditions({ type: 'refund' }),
  }
  for (const listed of [{ card_ids: many }, of_type]) {
    const plan = await pagePlan({}, listed)
    assert.doesNotMatch(plan, /Sort|Nested Loop/, plan)
  }
})

test('the rows of a purchase or dispute are found by their own index', async () => {
  for (const input of [{ authorization_id: 'txn_1' }, { dispute_id: 'dsp_1' }]) {
    const plan = await pagePlan(input, { filters: transactionConditions(input) })
    assert.match(plan, /transactions_first_account_id_(authorization|dispute)_id/, plan)
  }
})
