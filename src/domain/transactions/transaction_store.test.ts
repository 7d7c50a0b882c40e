import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openAccountPool, openDatabase, type Tx } from '#platform/postgres/db.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'
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

const pagePlan = async (input: Parameters<typeof readTransactionPage>[2], where: Condition[]) => {
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
  const of_account: Condition = ['account_id = ?', 'acct_7']
  await readTransactionPage(explaining, 'list_transactions', input, [of_account, ...where])
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
    const plan = await pagePlan(input, [])
    assert.match(plan, /Index Scan .*using transactions_first_pkey/, plan)
    assert.doesNotMatch(plan, /Sort|Bitmap/, plan)
  }
  const of_card = await pagePlan({}, anyOf('card_id', 'card_7'))
  assert.match(of_card, /Index Scan .*using transactions_first_(card_id_id_idx|pkey)/, of_card)
  assert.doesNotMatch(of_card, /Sort|Bitmap/, of_card)
})

test('the rows of a purchase or dispute are found by their own index', async () => {
  for (const input of [{ authorization_id: 'txn_1' }, { dispute_id: 'dsp_1' }]) {
    const plan = await pagePlan(input, transactionConditions(input))
    assert.match(plan, /transactions_first_account_id_(authorization|dispute)_id/, plan)
  }
})
