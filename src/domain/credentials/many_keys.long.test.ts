import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const KEYS = Number(process.env['FLORIN_KEYS'] ?? 1_000_000)
const CALLS = 200
const BATCH = 25_000

const { url, owner_db } = await startTestService()

/** The worst of a hundred first uses: none of these bearers is remembered. */
async function measure(bearers: readonly string[]): Promise<number> {
  const took: number[] = []
  for (const bearer of bearers) {
    const began = performance.now()
    assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer })).status, 200)
    took.push(performance.now() - began)
  }
  took.sort((one, two) => one - two)
  return took[Math.floor(took.length * 0.99)] ?? Infinity
}

const scansOf = async () => {
  await owner_db.rows('select pg_stat_force_next_flush()')
  const [row] = await owner_db.rows<{ scans: bigint }>(
    `select seq_scan as scans from pg_stat_user_tables where relname = 'api_keys'`,
  )
  return row?.scans
}

test(`a key is found by its index among ${KEYS} others`, async (t) => {
  const bearers: string[] = []
  while (bearers.length < CALLS * 2) {
    const person = await openAccount(url)
    for (let at = 0; at < 20; at += 1) bearers.push((await createKey(url, person.bearer)).key)
  }
  const { account_id } = await openAccount(url)
  const few_ms = await measure(bearers.slice(0, CALLS))
  // A statement may take ten seconds, and a million rows take longer.
  for (let first = 1; first <= KEYS; first += BATCH) {
    await owner_db.run(
      `insert into api_keys (account_id, id, prefix, key_hash, created_at)
       select $1, 'key_many_' || n, 'flk_test_', md5('a' || n) || md5('b' || n), now()
         from generate_series($2::int, $3::int) n`,
      [account_id, first, first + BATCH - 1],
    )
  }
  await owner_db.run('analyze api_keys')
  const before = await scansOf()
  const many_ms = await measure(bearers.slice(CALLS))
  assert.equal(await scansOf(), before, 'no look-up reads the whole table')
  t.diagnostic(`p99 ${few_ms.toFixed(1)} ms with few keys, ${many_ms.toFixed(1)} ms with ${KEYS}`)
})
