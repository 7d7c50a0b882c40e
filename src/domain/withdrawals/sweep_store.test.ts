import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase, type Tx } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { planSweeps } from './sweep_store.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url)
after(async () => {
  await db.close()
  await clone.drop()
})

const plan = { chain: 'tron', minimum_micros: 100_000_000n, now: new Date() }

test('planning reads only due addresses among 100,000', async () => {
  await db.connection(async (client) => {
    await client.query("set statement_timeout = '2min'")
    // Half are swept, half have less than the minimum, and thirty have enough.
    await client.query(
      `insert into address_holdings (chain, address, asset, account_id, topup_id, address_index,
                                     received_micros, swept_micros)
       select 'tron', lpad(to_hex(g), 40, '0'), 'USDT', 'acct_' || g, 'tup_' || g, g,
              case when g <= 30 then 200000000 + g else 5000000 + g % 1000 end,
              case when g > 30 and g % 2 = 0 then 5000000 + g % 1000 else 0 end
         from generate_series(1, 100000) g`,
    )
    await client.query('analyze address_holdings')
  })
  const lines: string[] = []
  const explaining: Tx = {
    ...db,
    run: async (sql, params) => {
      const rows = await db.rows<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, costs off) ${sql}`,
        params,
      )
      lines.push(...rows.map((row) => row['QUERY PLAN']))
      return rows.length
    },
  }
  await planSweeps(explaining, plan)
  const text = lines.join('\n')
  assert.match(text, /Index Scan using address_holdings_unswept/)
  assert.doesNotMatch(text, /Seq Scan on (address_holdings|chain_transfers)|Sort/)
  const blocks = Number(/shared hit=(\d+)/.exec(text)?.[1])
  assert(blocks < 500, `${blocks} blocks were read:\n${text}`)
})

test('plans the largest first, twenty per run, and none twice', async () => {
  await planSweeps(db, plan)
  await planSweeps(db, plan)
  const [planned] = await db.rows<{ count: number; least: bigint }>(
    'select count(*)::int as count, min(value_micros) as least from sweeps',
  )
  assert.deepEqual(planned, { count: 30, least: 200_000_001n })
})
